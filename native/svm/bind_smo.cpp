// mercer._native.Smo32, Smo64 and optimality: native/svm/smo.hpp and optimality.hpp on arrays of NumPy.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <stdexcept>

#include "bindings.hpp"
#include "smo.hpp"

namespace nb = nanobind;

namespace mercer {
namespace {

using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Rows = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

nb::tuple tuple_of(const Optimality& o) {
  return nb::make_tuple(o.violation, nb::make_tuple(o.multiplier[0], o.multiplier[1]), o.objective, o.gap);
}

nb::tuple optimality_of(const Vector& linear, const Vector& low, const Vector& high, double epsilon,
                        int constraint, const Vector& beta, const Vector& grad) {
  for (const Vector* v : {&low, &high, &beta, &grad})
    if (v->shape(0) != linear.shape(0)) throw std::invalid_argument("vectors must have the same length");
  QuadraticProblem problem{
      static_cast<Index>(linear.shape(0)), linear.data(), low.data(), high.data(), nullptr, epsilon,
      static_cast<Constraint>(constraint)};
  return tuple_of(optimality(problem, beta.data(), grad.data()));
}

// A solver with the arrays that it reads, which live as long as it does.
template <class T>
struct Bound {
  Vector linear, low, high, diagonal;
  Rows<T> rows;
  Smo<T> solver;

  // `rows` are all rows of K, or memory for a cache of them.
  Bound(Vector linear_, Vector low_, Vector high_, Vector diagonal_, double epsilon, int constraint,
        Rows<T> rows_, bool complete, const Vector& beta, const Vector& grad, int threads)
      : linear(linear_),
        low(low_),
        high(high_),
        diagonal(diagonal_),
        rows(rows_),
        solver({size(), linear.data(), low.data(), high.data(), diagonal.data(), epsilon,
                static_cast<Constraint>(constraint)},
               complete ? RowCache<T>(rows.data(), size(), size())
                        : RowCache<T>::empty(rows.data(), static_cast<Index>(rows.shape(0)), size()),
               beta.data(), grad.data(), threads) {}

  Index size() const { return static_cast<Index>(low.shape(0)); }

  int run(double tolerance, Index iterations, const nb::object& fetch, const nb::object& watch) {
    nb::gil_scoped_release release;
    return solver.run(
        tolerance, iterations,
        [&](const std::vector<Index>& wanted, const std::vector<Index>& slots) {
          nb::gil_scoped_acquire acquire;
          fetch(wanted, slots);
        },
        [&](Index done, double violation) {
          nb::gil_scoped_acquire acquire;
          return nb::cast<bool>(watch(done, violation));
        });
  }

  void set_bounds(const Vector& low_, const Vector& high_) {
    low = low_;
    high = high_;
    solver.set_bounds(low.data(), high.data());
  }

  nb::object copy(const double* from) const {
    auto n = static_cast<std::size_t>(solver.size());
    auto* data = new double[n];
    std::copy_n(from, n, data);
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<double*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, double, nb::ndim<1>>(data, {n}, owner));
  }
};

template <class T>
void bind(nb::module_& m, const char* name) {
  using namespace nb::literals;
  using B = Bound<T>;
  nb::class_<B>(m, name)
      .def(nb::init<Vector, Vector, Vector, Vector, double, int, Rows<T>, bool, const Vector&, const Vector&,
                    int>(),
           "linear"_a.noconvert(), "low"_a.noconvert(), "high"_a.noconvert(), "diagonal"_a.noconvert(),
           "epsilon"_a, "constraint"_a, "rows"_a.noconvert(), "complete"_a, "beta"_a.noconvert(),
           "grad"_a.noconvert(), "threads"_a)
      .def("run", &B::run, "tolerance"_a, "iterations"_a, "fetch"_a, "watch"_a)
      .def(
          "restart",
          [](B& self, const Vector& beta, const Vector& grad) {
            self.solver.restart(beta.data(), grad.data());
          },
          "beta"_a.noconvert(), "grad"_a.noconvert())
      .def("set_bounds", &B::set_bounds, "low"_a.noconvert(), "high"_a.noconvert())
      .def("recompute",
           [](B& self) {
             nb::gil_scoped_release release;
             return self.solver.recompute();
           })
      .def("optimality", [](const B& self) { return tuple_of(self.solver.optimality()); })
      .def_prop_ro("violation", [](const B& self) { return self.solver.violation(); })
      .def_prop_rw(
          "threads", [](const B& self) { return self.solver.threads(); },
          [](B& self, int threads) { self.solver.set_threads(threads); })
      .def_prop_ro("beta", [](const B& self) { return self.copy(self.solver.beta()); })
      .def_prop_ro("grad", [](const B& self) { return self.copy(self.solver.grad()); })
      .def_prop_ro("iterations", [](const B& self) { return self.solver.iterations(); })
      .def_prop_ro("rounds", [](const B& self) { return self.solver.rounds(); })
      .def_prop_ro("hits", [](const B& self) { return self.solver.cache().hits; })
      .def_prop_ro("misses", [](const B& self) { return self.solver.cache().misses; });
}

}  // namespace
}  // namespace mercer

void bind_smo(nanobind::module_& m) {
  using namespace nb::literals;
  const char* endings[] = {"CONVERGED", "LIMIT", "STOPPED", "UNBOUNDED", "STALLED", "NOT_FINITE"};
  for (int e = 0; e < 6; ++e) m.attr(endings[e]) = e;
  const char* constraints[] = {"SUM", "SIGNED", "FREE"};
  for (int c = 0; c < 3; ++c) m.attr(constraints[c]) = c;
  m.attr("SET_SIZE") = mercer::kSetSize;
  m.def("optimality", &mercer::optimality_of, "linear"_a.noconvert(), "low"_a.noconvert(),
        "high"_a.noconvert(), "epsilon"_a, "constraint"_a, "beta"_a.noconvert(), "grad"_a.noconvert());
  mercer::bind<float>(m, "Smo32");
  mercer::bind<double>(m, "Smo64");
}
