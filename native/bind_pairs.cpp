// mercer._native.Pairs: the solver of native/pairs.hpp on arrays of NumPy.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <stdexcept>

#include "bindings.hpp"
#include "pairs.hpp"

namespace nb = nanobind;

namespace mercer {
namespace {

using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Results = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
template <class T>
using Memory = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
Block<T> block_of(const Matrix<T>& matrix, std::size_t rows, std::size_t cols) {
  if (matrix.shape(0) != rows || matrix.shape(1) != cols || (cols > 1 && matrix.stride(1) != 1))
    throw std::invalid_argument("blocks must fit each other and have rows of neighbouring numbers");
  return {matrix.data(), static_cast<Index>(matrix.stride(0))};
}

CrossRows rows_of(const nb::tuple& three, Index n, Index m) {
  CrossRows cross{nb::cast<const SingleRows*>(three[0]), nb::cast<Index>(three[1]),
                  nb::cast<Index>(three[2])};
  if (std::min(cross.first, cross.second) < 0 ||
      std::max(cross.first + n, cross.second + m) > cross.rows->size())
    throw std::invalid_argument("classes must lie among the points of the rows");
  return cross;
}

// A solver with the arrays that it reads and writes, which live as long as it does.
template <class T>
struct BoundPairs {
  std::vector<nb::tuple> matrices;
  Vector linear, low, high;
  std::vector<double> factors;
  Results b, f;
  Pairs<T> solver;

  BoundPairs(std::vector<nb::tuple> matrices_, Vector linear_, Vector low_, Vector high_, double width,
             int constraint, std::vector<double> factors_, Results b_, Results f_)
      : matrices(matrices_),
        linear(linear_),
        low(low_),
        high(high_),
        factors(factors_),
        b(b_),
        f(f_),
        solver(blocks(),
               {static_cast<Index>(linear.shape(0)), linear.data(), low.data(), high.data(), nullptr, width,
                static_cast<Constraint>(constraint)},
               factors, b.data(), f.data()) {}

  std::vector<PairBlocks<T>> blocks() const {
    std::vector<PairBlocks<T>> result;
    std::size_t total = 0;
    for (const nb::tuple& three : matrices) {
      auto first = nb::cast<Matrix<T>>(three[0]), second = nb::cast<Matrix<T>>(three[2]);
      std::size_t n = first.shape(0), m = second.shape(0);
      PairBlocks<T> pair{block_of<T>(first, n, n),
                         {nullptr, 0},
                         block_of<T>(second, m, m),
                         static_cast<Index>(n),
                         static_cast<Index>(m)};
      if (nb::isinstance<nb::tuple>(three[1]) && sizeof(T) == sizeof(float))
        pair.lazy = rows_of(nb::borrow<nb::tuple>(three[1]), pair.first_size, pair.second_size);
      else
        pair.cross = block_of<T>(nb::cast<Matrix<T>>(three[1]), n, m);
      result.push_back(pair);
      total += n + m;
    }
    for (std::size_t size : {linear.shape(0), low.shape(0), high.shape(0), b.shape(1), f.shape(1)})
      if (size != total) throw std::invalid_argument("arrays must have a number for every variable");
    if (factors.empty() || b.shape(0) != factors.size() || f.shape(0) != factors.size())
      throw std::invalid_argument("b and f must have a row for every factor, of which there is one at least");
    return result;
  }

  void work(const Memory<T>& memory, double goal, double tolerance, Index steps, const nb::object& watch) {
    if (static_cast<Index>(memory.shape(0)) < solver.room())
      throw std::invalid_argument("memory must have room for the largest problem");
    nb::gil_scoped_release release;
    solver.work(memory.data(), goal, tolerance, steps, [&](Index done, double violation) {
      nb::gil_scoped_acquire acquire;
      return nb::cast<bool>(watch(done, violation));
    });
  }

  nb::list results() const {
    nb::list list;
    for (const PairResult& r : solver.results()) {
      const Quality& q = r.quality;
      list.append(nb::make_tuple(static_cast<int>(r.ending), r.steps, r.rounds, q.violation,
                                 nb::make_tuple(q.offset[0], q.offset[1]), q.objective, q.gap, r.size));
    }
    return list;
  }
};

template <class T>
void bind(nb::module_& m, const char* name) {
  using namespace nb::literals;
  using B = BoundPairs<T>;
  nb::class_<B>(m, name)
      .def(nb::init<std::vector<nb::tuple>, Vector, Vector, Vector, double, int, std::vector<double>, Results,
                    Results>(),
           "blocks"_a, "linear"_a.noconvert(), "low"_a.noconvert(), "high"_a.noconvert(), "width"_a,
           "constraint"_a, "factors"_a, "b"_a.noconvert(), "f"_a.noconvert())
      .def("work", &B::work, "memory"_a.noconvert(), "goal"_a, "tolerance"_a, "steps"_a, "watch"_a)
      .def("stop", [](B& self) { self.solver.stop(); })
      .def("results", &B::results)
      .def_prop_ro("room", [](const B& self) { return self.solver.room(); });
}

}  // namespace
}  // namespace mercer

void bind_pairs(nanobind::module_& m) {
  mercer::bind<float>(m, "Pairs32");
  mercer::bind<double>(m, "Pairs64");
}
