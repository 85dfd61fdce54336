// The sums of native/trees on arrays of NumPy.  `watch` is called now and then from the thread that called;
// what it raises ends the work.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "../bindings.hpp"
#include "tree_pairs.hpp"

namespace nb = nanobind;

namespace mercer {
namespace {

using Codes = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<const Index, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Reals = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Out = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// The six arrays of a forest, which live as long as the tuple.
Forest forest_of(const nb::tuple& six) {
  return {nb::cast<Numbers>(six[0]).data(), nb::cast<Codes>(six[1]).data(),   nb::cast<Codes>(six[2]).data(),
          nb::cast<Reals>(six[3]).data(),   nb::cast<Numbers>(six[4]).data(), nb::cast<Codes>(six[5]).data()};
}

void bind(nb::module_& m) {
  using namespace nb::literals;
  m.def(
      "tree_pairs",
      [](const nb::tuple& X, const nb::tuple& Y, const Numbers& rows, const Numbers& cols, bool partial,
         double decay, double gap_decay, Index most, const Out& sums, const Out& exponents, int threads,
         const nb::callable& watch) {
        TreePairs pairs{forest_of(X), forest_of(Y), rows.data(), cols.data(),
                        static_cast<Index>(rows.shape(0))};
        Look look = [&watch] {
          nb::gil_scoped_acquire acquire;
          if (PyErr_CheckSignals() != 0) throw nb::python_error();
          watch();
        };
        nb::gil_scoped_release release;
        tree_pairs(pairs, {partial, decay, gap_decay}, most, sums.data(), exponents.data(), threads, look);
      },
      "X"_a, "Y"_a, "rows"_a.noconvert(), "cols"_a.noconvert(), "partial"_a, "decay"_a, "gap_decay"_a,
      "most"_a, "sums"_a.noconvert(), "exponents"_a.noconvert(), "threads"_a, "watch"_a);
}

}  // namespace
}  // namespace mercer

void bind_trees(nanobind::module_& m) { mercer::bind(m); }
