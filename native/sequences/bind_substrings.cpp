// mercer._native: sums over common factors and context trees, on strings of NumPy.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <limits>

#include "bindings.hpp"
#include "sequences/contexts.hpp"
#include "sequences/factors.hpp"

namespace nb = nanobind;

namespace mercer {
namespace {

using Codes = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Indices = nb::ndarray<const Index, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Table = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Values = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Out = nb::ndarray<double, nb::ndim<2>, nb::device::cpu>;

Strings strings_of(const Codes& codes, const Indices& starts) {
  return {codes.data(), starts.data(), static_cast<Index>(starts.shape(0)) - 1};
}

Index stride_of(const Out& out) {
  return out.shape(0) > 1 ? static_cast<Index>(out.stride(0)) : static_cast<Index>(out.shape(1));
}

// Weights of lengths with the arrays that they read.
struct BoundWeights {
  Table powers, sums, longer_powers, longer_sums;
  Codes excluded_codes;
  Indices excluded_starts;
  FactorWeights weights;

  BoundWeights(Index shortest, Index longer, Table powers_, Table sums_, Table longer_powers_,
               Table longer_sums_, double empty, Codes codes, Indices starts)
      : powers(powers_),
        sums(sums_),
        longer_powers(longer_powers_),
        longer_sums(longer_sums_),
        excluded_codes(codes),
        excluded_starts(starts),
        weights{{powers.data(), sums.data(), shortest, longer - 1},
                {longer_powers.data(), longer_sums.data(), std::max(shortest, longer),
                 std::numeric_limits<Index>::max()},
                empty,
                strings_of(excluded_codes, excluded_starts)} {}
};

void bind_factors(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<BoundWeights>(m, "FactorWeights")
      .def(nb::init<Index, Index, Table, Table, Table, Table, double, Codes, Indices>(), "shortest"_a,
           "longer"_a, "powers"_a.noconvert(), "sums"_a.noconvert(), "longer_powers"_a.noconvert(),
           "longer_sums"_a.noconvert(), "empty"_a, "excluded_codes"_a.noconvert(),
           "excluded_starts"_a.noconvert());
  m.def(
      "factors",
      [](const BoundWeights& bound, bool counted, const Codes& x, const Indices& x_starts, const Codes& y,
         const Indices& y_starts, Index limit, const Out& out, int threads) {
        Strings X = strings_of(x, x_starts), Y = strings_of(y, y_starts);
        Index stride = stride_of(out);
        double* values = out.data();
        nb::gil_scoped_release release;
        factors_block(X, Y, bound.weights, counted, limit, values, stride, threads);
      },
      "weights"_a, "counted"_a, "x"_a.noconvert(), "x_starts"_a.noconvert(), "y"_a.noconvert(),
      "y_starts"_a.noconvert(), "limit"_a, "out"_a.noconvert(), "threads"_a);
  m.def(
      "factors_diagonal",
      [](const BoundWeights& bound, bool counted, const Codes& x, const Indices& x_starts, const Values& out,
         int threads) {
        Strings X = strings_of(x, x_starts);
        double* values = out.data();
        nb::gil_scoped_release release;
        factors_diagonal(X, bound.weights, counted, values, threads);
      },
      "weights"_a, "counted"_a, "x"_a.noconvert(), "x_starts"_a.noconvert(), "out"_a.noconvert(),
      "threads"_a);
}

void bind_contexts(nb::module_& m) {
  using namespace nb::literals;
  m.def("log_rising", &log_rising, "b"_a, "r"_a);
  nb::class_<ContextForest>(m, "ContextForest")
      .def(
          "__init__",
          [](ContextForest* self, Index depth, bool boundary, Index letters, double sigma, double split,
             double prior) {
            new (self) ContextForest({depth, boundary, static_cast<double>(letters), sigma, split, prior});
          },
          "depth"_a, "boundary"_a, "letters"_a, "sigma"_a, "split"_a, "prior"_a)
      .def(
          "plant",
          [](ContextForest& self, const Codes& codes, const Indices& starts, int threads) {
            Strings strings = strings_of(codes, starts);
            nb::gil_scoped_release release;
            self.plant(strings, threads);
          },
          "codes"_a.noconvert(), "starts"_a.noconvert(), "threads"_a)
      .def_prop_ro("nodes", &ContextForest::nodes)
      .def(
          "block",
          [](const ContextForest& self, const Indices& rows, const ContextForest& other,
             const Indices& columns, Index limit, const Out& out, int threads) {
            Index stride = stride_of(out);
            double* values = out.data();
            const Index *r = rows.data(), *c = columns.data();
            auto n = static_cast<Index>(rows.shape(0)), count = static_cast<Index>(columns.shape(0));
            nb::gil_scoped_release release;
            self.block(r, n, other, c, count, limit, values, stride, threads);
          },
          "rows"_a.noconvert(), "other"_a, "columns"_a.noconvert(), "limit"_a, "out"_a.noconvert(),
          "threads"_a)
      .def(
          "diagonal",
          [](const ContextForest& self, const Indices& rows, const Values& out, int threads) {
            const Index* r = rows.data();
            auto n = static_cast<Index>(rows.shape(0));
            double* values = out.data();
            nb::gil_scoped_release release;
            self.diagonal(r, n, values, threads);
          },
          "rows"_a.noconvert(), "out"_a.noconvert(), "threads"_a);
}

}  // namespace
}  // namespace mercer

void bind_substrings(nanobind::module_& m) {
  mercer::bind_factors(m);
  mercer::bind_contexts(m);
}
