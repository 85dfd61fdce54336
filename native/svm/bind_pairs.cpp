// mercer._native.Pairs: the solver of native/svm/pairs.hpp on arrays of NumPy.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>

#include "bindings.hpp"
#include "pairs.hpp"

namespace nb = nanobind;

namespace mercer {
namespace {

using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Results = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
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

// A solver with the arrays that it reads and writes, which live as long as it does.
template <class T>
struct BoundPairs {
  std::vector<nb::tuple> matrices;
  Vector linear, low, high;
  Results beta, grad;
  Pairs<T> solver;

  BoundPairs(std::vector<nb::tuple> matrices_, Vector linear_, Vector low_, Vector high_, double epsilon,
             int constraint, Results beta_, Results grad_)
      : matrices(matrices_),
        linear(linear_),
        low(low_),
        high(high_),
        beta(beta_),
        grad(grad_),
        solver(blocks(),
               {static_cast<Index>(linear.shape(0)), linear.data(), low.data(), high.data(), nullptr, epsilon,
                static_cast<Constraint>(constraint)},
               beta.data(), grad.data()) {}

  std::vector<PairBlocks<T>> blocks() const {
    std::vector<PairBlocks<T>> result;
    std::size_t total = 0;
    for (const nb::tuple& three : matrices) {
      auto first = nb::cast<Matrix<T>>(three[0]), second = nb::cast<Matrix<T>>(three[2]);
      std::size_t n = first.shape(0), m = second.shape(0);
      result.push_back({block_of<T>(first, n, n), block_of<T>(nb::cast<Matrix<T>>(three[1]), n, m),
                        block_of<T>(second, m, m), static_cast<Index>(n), static_cast<Index>(m)});
      total += n + m;
    }
    for (std::size_t size : {linear.shape(0), low.shape(0), high.shape(0), beta.shape(0), grad.shape(0)})
      if (size != total) throw std::invalid_argument("arrays must have a number for every variable");
    return result;
  }

  void work(const Memory<T>& buffer, double goal, double tolerance, Index iterations,
            const nb::object& watch) {
    if (static_cast<Index>(buffer.shape(0)) < solver.buffer_size())
      throw std::invalid_argument("the buffer must hold the largest problem");
    nb::gil_scoped_release release;
    solver.work(buffer.data(), goal, tolerance, iterations, [&](Index done, double violation) {
      nb::gil_scoped_acquire acquire;
      return nb::cast<bool>(watch(done, violation));
    });
  }

  nb::list results() const {
    nb::list list;
    for (const PairResult& r : solver.results()) {
      const Optimality& o = r.optimality;
      list.append(nb::make_tuple(static_cast<int>(r.ending), r.iterations, r.rounds, o.violation,
                                 nb::make_tuple(o.multiplier[0], o.multiplier[1]), o.objective, o.gap,
                                 r.size));
    }
    return list;
  }
};

template <class T>
void bind(nb::module_& m, const char* name) {
  using namespace nb::literals;
  using B = BoundPairs<T>;
  nb::class_<B>(m, name)
      .def(nb::init<std::vector<nb::tuple>, Vector, Vector, Vector, double, int, Results, Results>(),
           "blocks"_a, "linear"_a.noconvert(), "low"_a.noconvert(), "high"_a.noconvert(), "epsilon"_a,
           "constraint"_a, "beta"_a.noconvert(), "grad"_a.noconvert())
      .def("work", &B::work, "buffer"_a.noconvert(), "goal"_a, "tolerance"_a, "iterations"_a, "watch"_a)
      .def("stop", [](B& self) { self.solver.stop(); })
      .def("results", &B::results)
      .def_prop_ro("buffer_size", [](const B& self) { return self.solver.buffer_size(); });
}

}  // namespace
}  // namespace mercer

void bind_pairs(nanobind::module_& m) {
  mercer::bind<float>(m, "Pairs32");
  mercer::bind<double>(m, "Pairs64");
}
