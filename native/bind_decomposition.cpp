// mercer._native.Decomposition: the solver of native/decomposition.hpp on arrays of NumPy.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>

#include "bindings.hpp"
#include "decomposition.hpp"
#include "rough.hpp"

namespace nb = nanobind;

namespace mercer {
namespace {

using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Rows = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

using Indices = nb::ndarray<const Index, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Rows that are filled as they are needed, or, with an index, the rows (and columns) of a whole matrix.
template <class T>
RowCache<T> cache_of(const Rows<T>& rows, const std::optional<Indices>& index) {
  auto stride = static_cast<Index>(rows.shape(1));
  if (!index) return RowCache<T>(rows.data(), static_cast<Index>(rows.shape(0)), stride);
  return RowCache<T>(rows.data(), stride, index->data(), static_cast<Index>(index->shape(0)));
}

// A solver with the arrays that it reads, which live as long as it does.
template <class T>
struct Bound {
  Vector linear, low, high, diagonal;
  Rows<T> rows;
  std::optional<Indices> index;
  Decomposition<T> solver;

  Bound(Vector linear_, Vector low_, Vector high_, Vector diagonal_, double width, int constraint,
        Rows<T> rows_, std::optional<Indices> index_, const Vector& b, const Vector& f, int threads)
      : linear(linear_),
        low(low_),
        high(high_),
        diagonal(diagonal_),
        rows(rows_),
        index(index_),
        solver({static_cast<Index>(low.shape(0)), linear.data(), low.data(), high.data(), diagonal.data(),
                width, static_cast<Constraint>(constraint)},
               cache_of(rows, index), index ? index->data() : nullptr, b.data(), f.data(), threads) {}

  int run(double tolerance, Index steps, const nb::object& fetch, const nb::object& watch) {
    nb::gil_scoped_release release;
    return solver.run(
        tolerance, steps,
        [&](const std::vector<Index>& wanted, const std::vector<Index>& slots) {
          nb::gil_scoped_acquire acquire;
          fetch(wanted, slots);
        },
        [&](Index done, double violation) {
          nb::gil_scoped_acquire acquire;
          return nb::cast<bool>(watch(done, violation));
        });
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
      .def(nb::init<Vector, Vector, Vector, Vector, double, int, Rows<T>, std::optional<Indices>,
                    const Vector&, const Vector&, int>(),
           "linear"_a.noconvert(), "low"_a.noconvert(), "high"_a.noconvert(), "diagonal"_a.noconvert(),
           "width"_a, "constraint"_a, "rows"_a.noconvert(), "index"_a.none(), "b"_a.noconvert(),
           "f"_a.noconvert(), "threads"_a)
      .def("run", &B::run, "tolerance"_a, "steps"_a, "fetch"_a, "watch"_a)
      .def("stop", [](B& self) { self.solver.stop(); })
      .def(
          "restart",
          [](B& self, const Vector& b, const Vector& f) { self.solver.restart(b.data(), f.data()); },
          "b"_a.noconvert(), "f"_a.noconvert())
      .def(
          "compute_sets", [](B& self, const RoughRows& rough) { self.solver.compute_sets(&rough); },
          "rough"_a, nb::keep_alive<1, 2>())
      .def("release_memory", [](B& self) { self.solver.release_memory(); })
      .def("recompute",
           [](B& self) {
             nb::gil_scoped_release release;
             return self.solver.recompute();
           })
      .def("quality",
           [](const B& self) {
             Quality q = self.solver.quality();
             return nb::make_tuple(q.violation, nb::make_tuple(q.offset[0], q.offset[1]), q.objective, q.gap);
           })
      .def("violation",
           [](const B& self) {
             double high[2] = {}, low[2] = {};
             double worst = self.solver.violation(high, low);
             return nb::make_tuple(worst, nb::make_tuple(high[0], high[1]), nb::make_tuple(low[0], low[1]));
           })
      .def_prop_rw(
          "threads", [](const B& self) { return self.solver.threads(); },
          [](B& self, int threads) { self.solver.set_threads(threads); })
      .def_prop_ro("b", [](const B& self) { return self.copy(self.solver.b()); })
      .def_prop_ro("f", [](const B& self) { return self.copy(self.solver.f()); })
      .def_prop_ro("steps", [](const B& self) { return self.solver.steps(); })
      .def_prop_ro("rounds", [](const B& self) { return self.solver.rounds(); })
      .def_prop_ro("hits", [](const B& self) { return self.solver.cache().hits; })
      .def_prop_ro("misses", [](const B& self) { return self.solver.cache().misses; });
}

}  // namespace
}  // namespace mercer

void bind_decomposition(nanobind::module_& m) {
  const char* endings[] = {"CONVERGED", "LIMIT", "STOPPED", "UNBOUNDED", "STALLED", "NOT_FINITE"};
  for (int e = 0; e < 6; ++e) m.attr(endings[e]) = e;
  const char* constraints[] = {"SUM", "SIGNED", "FREE"};
  for (int c = 0; c < 3; ++c) m.attr(constraints[c]) = c;
  m.attr("SET_SIZE") = mercer::kSetSize;
  mercer::bind<float>(m, "Decomposition32");
  mercer::bind<double>(m, "Decomposition64");
}
