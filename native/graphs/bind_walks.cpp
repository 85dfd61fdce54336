// mercer._native.walk_sums and spectral_walk_sums: native/graphs/walks.hpp on arrays of NumPy.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "../bindings.hpp"
#include "walks.hpp"

namespace nb = nanobind;

namespace mercer {
namespace {

template <class T>
using Array = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Table = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Out = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Status = nb::ndarray<std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
const T* data_of(nb::handle array) {
  return nb::cast<Array<T>>(array, false).data();
}

// node_starts, arc_starts, targets, weights, node_codes, arc_codes, starts, stops
WalkGraphs graphs_of(const nb::tuple& g) {
  return {data_of<Index>(g[0]), data_of<Index>(g[1]), data_of<std::int32_t>(g[2]), data_of<double>(g[3]),
          data_of<Index>(g[4]), data_of<Index>(g[5]), data_of<double>(g[6]),       data_of<double>(g[7])};
}

Spectra spectra_of(const nb::tuple& s) {
  return {data_of<double>(s[0]), data_of<double>(s[1]), data_of<Index>(s[2])};
}

Similarities similarities_of(const Table& table) {
  return {table.data(), static_cast<Index>(table.shape(1))};
}

WalkRule rule_of(int series, const Array<double>& ratios) {
  return {static_cast<WalkSeries>(series), ratios.data(), static_cast<Index>(ratios.shape(0))};
}

Look look_of(const nb::callable& watch) {
  return [&watch] {
    nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    watch();
  };
}

}  // namespace
}  // namespace mercer

void bind_walks(nb::module_& m) {
  using namespace mercer;
  using namespace nb::literals;
  m.attr("WALKS_SOLVED") = static_cast<int>(kSolve);
  m.attr("WALKS_TRUNCATED") = static_cast<int>(kTruncate);
  m.attr("WALKS_EXPONENTIAL") = static_cast<int>(kExponential);
  m.def(
      "walk_sums",
      [](const nb::tuple& x, const nb::tuple& y, const Table& nodes, const Table& arcs, int series,
         const Array<double>& ratios, const Array<Index>& rows, const Array<Index>& cols, const Out& out,
         const Status& status, int threads, const nb::callable& watch) {
        WalkGraphs X = graphs_of(x), Y = graphs_of(y);
        WalkRule rule = rule_of(series, ratios);
        Look look = look_of(watch);
        nb::gil_scoped_release release;
        walk_sums(X, Y, similarities_of(nodes), similarities_of(arcs), rule, rows.data(), cols.data(),
                  static_cast<Index>(rows.shape(0)), out.data(), status.data(), threads, look);
      },
      "x"_a, "y"_a, "nodes"_a.noconvert(), "arcs"_a.noconvert(), "series"_a, "ratios"_a.noconvert(),
      "rows"_a.noconvert(), "cols"_a.noconvert(), "out"_a.noconvert(), "status"_a.noconvert(), "threads"_a,
      "watch"_a);
  m.def(
      "spectral_walk_sums",
      [](const nb::tuple& x, const nb::tuple& y, int series, const Array<double>& ratios,
         const Array<Index>& rows, const Array<Index>& cols, const Out& out, int threads,
         const nb::callable& watch) {
        Spectra X = spectra_of(x), Y = spectra_of(y);
        WalkRule rule = rule_of(series, ratios);
        Look look = look_of(watch);
        nb::gil_scoped_release release;
        spectral_walk_sums(X, Y, rule, rows.data(), cols.data(), static_cast<Index>(rows.shape(0)),
                           out.data(), threads, look);
      },
      "x"_a, "y"_a, "series"_a, "ratios"_a.noconvert(), "rows"_a.noconvert(), "cols"_a.noconvert(),
      "out"_a.noconvert(), "threads"_a, "watch"_a);
}
