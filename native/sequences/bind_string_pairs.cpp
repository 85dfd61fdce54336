// The recursions of native/sequences on arrays of NumPy.  `watch` is called now and then from the thread that
// called; what it raises ends the work.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "../bindings.hpp"
#include "degree.hpp"
#include "string_pairs.hpp"

namespace nb = nanobind;

namespace mercer {
namespace {

using Codes = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<const Index, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Reals = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Table2 = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Out = nb::ndarray<double, nb::c_contig, nb::device::cpu>;

// The six arrays that say which sequences to compare.
PairList pairs_of(const nb::tuple& six) {
  auto x = nb::cast<Codes>(six[0]), y = nb::cast<Codes>(six[2]);
  auto x_starts = nb::cast<Numbers>(six[1]), y_starts = nb::cast<Numbers>(six[3]);
  auto rows = nb::cast<Numbers>(six[4]), cols = nb::cast<Numbers>(six[5]);
  return {{x.data(), x_starts.data()},
          {y.data(), y_starts.data()},
          rows.data(),
          cols.data(),
          static_cast<Index>(rows.shape(0))};
}

Look look_of(const nb::callable& watch) {
  return [&watch] {
    nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    watch();
  };
}

void bind(nb::module_& m) {
  using namespace nb::literals;
  m.def(
      "subsequences",
      [](const nb::tuple& pairs, Index n, double decay, const Out& sums, const Out& exponents, int threads,
         const nb::callable& watch) {
        PairList list = pairs_of(pairs);
        Look look = look_of(watch);
        nb::gil_scoped_release release;
        subsequences(list, {n, decay}, sums.data(), exponents.data(), threads, look);
      },
      "pairs"_a, "n"_a, "decay"_a, "sums"_a.noconvert(), "exponents"_a.noconvert(), "threads"_a, "watch"_a);
  m.def(
      "local_alignments",
      [](const nb::tuple& pairs, const Table2& weights, double equal, double other, double open,
         double extend, const Out& sums, const Out& exponents, int threads, const nb::callable& watch) {
        PairList list = pairs_of(pairs);
        Look look = look_of(watch);
        auto symbols = static_cast<Index>(weights.shape(0));
        LocalAlignmentRule rule{symbols == 0 ? nullptr : weights.data(), symbols, equal, other, open, extend};
        nb::gil_scoped_release release;
        local_alignments(list, rule, sums.data(), exponents.data(), threads, look);
      },
      "pairs"_a, "weights"_a.noconvert(), "equal"_a, "other"_a, "open"_a, "extend"_a, "sums"_a.noconvert(),
      "exponents"_a.noconvert(), "threads"_a, "watch"_a);
  m.def(
      "edits",
      [](const nb::tuple& pairs, double gap, double substitute, const Out& costs, int threads,
         const nb::callable& watch) {
        PairList list = pairs_of(pairs);
        Look look = look_of(watch);
        nb::gil_scoped_release release;
        edits(list, {gap, substitute}, costs.data(), threads, look);
      },
      "pairs"_a, "gap"_a, "substitute"_a, "costs"_a.noconvert(), "threads"_a, "watch"_a);
  m.def(
      "weighted_degree",
      [](const nb::tuple& pairs, const Reals& gains, const Reals& shifts, const Out& values, int threads,
         const nb::callable& watch) {
        PairList list = pairs_of(pairs);
        Look look = look_of(watch);
        DegreeRule rule{gains.data(), static_cast<Index>(gains.shape(0)) - 1, shifts.data(),
                        static_cast<Index>(shifts.shape(0)) - 1};
        nb::gil_scoped_release release;
        weighted_degree(list, rule, values.data(), threads, look);
      },
      "pairs"_a, "gains"_a.noconvert(), "shifts"_a.noconvert(), "values"_a.noconvert(), "threads"_a,
      "watch"_a);
}

}  // namespace
}  // namespace mercer

void bind_string_pairs(nanobind::module_& m) { mercer::bind(m); }
