// mercer._native.walk_sums, spectral_walk_sums and tree_walk_sums: native/graphs/walks.hpp and tree_walks.hpp
// on arrays of NumPy.
#include "../bindings.hpp"
#include "arrays.hpp"
#include "tree_walks.hpp"

namespace nb = nanobind;

namespace mercer {
namespace {

using Values = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Out = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Marks = nb::ndarray<std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// (node_starts, arc_starts, targets), node_codes, arc_codes, weights, starts, stops
WalkGraphs walk_graphs_of(const nb::tuple& g) {
  auto codes = [&](int i) { return nb::cast<Numbers>(g[i], false).data(); };
  auto reals = [&](int i) { return nb::cast<Reals>(g[i], false).data(); };
  return {graphs_of(nb::cast<nb::tuple>(g[0])), codes(1), codes(2), reals(3), reals(4), reals(5)};
}

Spectra spectra_of(const nb::tuple& s) {
  return {nb::cast<Reals>(s[0], false).data(), nb::cast<Reals>(s[1], false).data(),
          nb::cast<Numbers>(s[2], false).data()};
}

Similarities similarities_of(const Values& table) {
  return {table.data(), static_cast<Index>(table.shape(1))};
}

WalkRule rule_of(int series, const Reals& ratios) {
  return {static_cast<WalkSeries>(series), ratios.data(), static_cast<Index>(ratios.shape(0))};
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
      [](const nb::tuple& x, const nb::tuple& y, const Values& nodes, const Values& arcs, int series,
         const Reals& ratios, const Numbers& rows, const Numbers& cols, const Out& out, const Marks& status,
         int threads, const nb::callable& watch) {
        WalkGraphs X = walk_graphs_of(x), Y = walk_graphs_of(y);
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
      [](const nb::tuple& x, const nb::tuple& y, int series, const Reals& ratios, const Numbers& rows,
         const Numbers& cols, const Out& out, int threads, const nb::callable& watch) {
        Spectra X = spectra_of(x), Y = spectra_of(y);
        WalkRule rule = rule_of(series, ratios);
        Look look = look_of(watch);
        nb::gil_scoped_release release;
        spectral_walk_sums(X, Y, rule, rows.data(), cols.data(), static_cast<Index>(rows.shape(0)),
                           out.data(), threads, look);
      },
      "x"_a, "y"_a, "series"_a, "ratios"_a.noconvert(), "rows"_a.noconvert(), "cols"_a.noconvert(),
      "out"_a.noconvert(), "threads"_a, "watch"_a);
  m.def(
      "tree_walk_sums",
      [](const nb::tuple& x, const nb::tuple& y, const Values& nodes, const Values& arcs, Index depth,
         Index arity, double decay, const Numbers& rows, const Numbers& cols, const Out& out, int threads,
         const nb::callable& watch) {
        WalkGraphs X = walk_graphs_of(x), Y = walk_graphs_of(y);
        Look look = look_of(watch);
        nb::gil_scoped_release release;
        tree_walk_sums(X, Y, similarities_of(nodes), similarities_of(arcs), depth, arity, decay, rows.data(),
                       cols.data(), static_cast<Index>(rows.shape(0)), out.data(), threads, look);
      },
      "x"_a, "y"_a, "nodes"_a.noconvert(), "arcs"_a.noconvert(), "depth"_a, "arity"_a, "decay"_a,
      "rows"_a.noconvert(), "cols"_a.noconvert(), "out"_a.noconvert(), "threads"_a, "watch"_a);
}
