// Windows, keys and n-grams with gaps on arrays of NumPy; see windows.hpp and gappy.hpp.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "bindings.hpp"
#include "gappy.hpp"
#include "windows.hpp"

namespace nb = nanobind;

namespace {

using mercer::Index;

template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Codes = Vector<const std::int32_t>;
using Indices = Vector<const Index>;
using Matrix = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Patterns = nb::ndarray<const Index, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Values = Vector<const double>;

// Runs come as (codes, begins, counts, first).
mercer::Runs runs_of(const nb::tuple& runs) {
  auto first = nb::cast<Indices>(runs[3]);
  return {nb::cast<Codes>(runs[0]).data(), nb::cast<Indices>(runs[1]).data(),
          nb::cast<Indices>(runs[2]).data(), first.data(), static_cast<Index>(first.shape(0)) - 1};
}

Index count_keys(const Vector<Index>& keys, const Indices& starts, Index width, const Vector<double>& counts,
                 const Vector<Index>& ends, int threads) {
  auto rows = static_cast<Index>(starts.shape(0)) - 1;
  nb::gil_scoped_release release;
  return mercer::count_keys(keys.data(), starts.data(), rows, width, counts.data(), ends.data(), threads);
}

Index sum_keys(const Vector<Index>& keys, const Indices& starts, const Vector<double>& counts,
               const Vector<Index>& ends, int threads) {
  auto rows = static_cast<Index>(starts.shape(0)) - 1;
  nb::gil_scoped_release release;
  return mercer::sum_keys(keys.data(), starts.data(), rows, counts.data(), ends.data(), threads);
}

void window_keys(const nb::tuple& runs, const Indices& offsets, Index base, const Vector<Index>& keys) {
  mercer::Runs r = runs_of(runs);
  nb::gil_scoped_release release;
  mercer::window_keys(r, offsets.data(), static_cast<Index>(offsets.shape(0)), base, keys.data());
}

// Sparse rows come as (keys, weights, ends).
mercer::SparseRows sparse_rows_of(const nb::tuple& rows) {
  auto ends = nb::cast<Indices>(rows[2]);
  return {nb::cast<Indices>(rows[0]).data(), nb::cast<Values>(rows[1]).data(), ends.data(),
          static_cast<Index>(ends.shape(0)) - 1};
}

void sparse_product(const nb::tuple& X, const nb::tuple& Y, bool symmetric, Index width, const Matrix& out) {
  mercer::SparseRows x = sparse_rows_of(X), y = sparse_rows_of(Y);
  nb::gil_scoped_release release;
  mercer::sparse_product(x, y, symmetric, width, out.data());
}

void count_agreements(const nb::tuple& X, const nb::tuple& Y, bool symmetric, const Patterns& offsets,
                      Index base, const Matrix& out, int threads) {
  mercer::Runs x = runs_of(X), y = runs_of(Y);
  nb::gil_scoped_release release;
  mercer::count_agreements(x, y, symmetric, offsets.data(), static_cast<Index>(offsets.shape(0)),
                           static_cast<Index>(offsets.shape(1)), base, out.data(), threads);
}

void sum_over_agreements(const nb::tuple& X, const nb::tuple& Y, bool symmetric, Index length, Index base,
                         const Values& values, const Matrix& out, int threads) {
  mercer::Runs x = runs_of(X), y = runs_of(Y);
  nb::gil_scoped_release release;
  mercer::sum_over_agreements(x, y, symmetric, length, base, values.data(), out.data(), threads);
}

// Keys come as (keys, starts).
mercer::Keys keys_of(const nb::tuple& keys) {
  auto starts = nb::cast<Indices>(keys[1]);
  return {nb::cast<Codes>(keys[0]).data(), starts.data(), static_cast<Index>(starts.shape(0)) - 1};
}

void sum_over_neighbours(const nb::tuple& X, const nb::tuple& Y, bool symmetric, Index first, Index last,
                         const Codes& masks, const Values& values, Index cells, const Matrix& out,
                         int threads) {
  mercer::Keys x = keys_of(X), y = keys_of(Y);
  mercer::Neighbours near{masks.data(), values.data(), static_cast<Index>(masks.shape(0)), cells};
  nb::gil_scoped_release release;
  mercer::sum_over_neighbours(x, y, symmetric, first, last, near, out.data(), threads);
}

void gappy_features(const Codes& codes, const Indices& starts, Index n, Index base, double decay,
                    const Matrix& out, int threads) {
  nb::gil_scoped_release release;
  mercer::gappy_features(codes.data(), starts.data(), static_cast<Index>(out.shape(0)), n, base,
                         static_cast<Index>(out.shape(1)), decay, out.data(), threads);
}

void gappy_values(const Codes& x_codes, const Indices& x_starts, const Indices& x_rows, const Codes& y_codes,
                  const Indices& y_starts, const Indices& y_rows, Index n, double decay, const Matrix& out,
                  int threads) {
  mercer::Chosen x{x_codes.data(), x_starts.data(), x_rows.data(), static_cast<Index>(x_rows.shape(0))};
  mercer::Chosen y{y_codes.data(), y_starts.data(), y_rows.data(), static_cast<Index>(y_rows.shape(0))};
  nb::gil_scoped_release release;
  mercer::gappy_values(x, y, n, decay, out.data(), threads);
}

double gappy_steps(const Codes& x, Index first, Index last, const Codes& y, double decay,
                   const Matrix& ends) {
  nb::gil_scoped_release release;
  return mercer::gappy_steps(x.data(), first, last, y.data(), static_cast<Index>(y.shape(0)),
                             static_cast<Index>(ends.shape(0)) + 1, decay, ends.data());
}

}  // namespace

void bind_ngrams(nb::module_& m) {
  using namespace nb::literals;
  m.def("window_keys", &window_keys, "runs"_a, "offsets"_a.noconvert(), "base"_a, "keys"_a.noconvert());
  m.def("count_keys", &count_keys, "keys"_a.noconvert(), "starts"_a.noconvert(), "width"_a,
        "counts"_a.noconvert(), "ends"_a.noconvert(), "threads"_a);
  m.def("sum_keys", &sum_keys, "keys"_a.noconvert(), "starts"_a.noconvert(), "counts"_a.noconvert(),
        "ends"_a.noconvert(), "threads"_a);
  m.def("sparse_product", &sparse_product, "X"_a, "Y"_a, "symmetric"_a, "width"_a, "out"_a.noconvert());
  m.def("count_agreements", &count_agreements, "X"_a, "Y"_a, "symmetric"_a, "offsets"_a.noconvert(), "base"_a,
        "out"_a.noconvert(), "threads"_a);
  m.def("sum_over_agreements", &sum_over_agreements, "X"_a, "Y"_a, "symmetric"_a, "length"_a, "base"_a,
        "values"_a.noconvert(), "out"_a.noconvert(), "threads"_a);
  m.def("sum_over_neighbours", &sum_over_neighbours, "X"_a, "Y"_a, "symmetric"_a, "first"_a, "last"_a,
        "masks"_a.noconvert(), "values"_a.noconvert(), "cells"_a, "out"_a.noconvert(), "threads"_a);
  m.def("gappy_features", &gappy_features, "codes"_a.noconvert(), "starts"_a.noconvert(), "n"_a, "base"_a,
        "decay"_a, "out"_a.noconvert(), "threads"_a);
  m.def("gappy_values", &gappy_values, "x_codes"_a.noconvert(), "x_starts"_a.noconvert(),
        "x_rows"_a.noconvert(), "y_codes"_a.noconvert(), "y_starts"_a.noconvert(), "y_rows"_a.noconvert(),
        "n"_a, "decay"_a, "out"_a.noconvert(), "threads"_a);
  m.def("gappy_steps", &gappy_steps, "x"_a.noconvert(), "first"_a, "last"_a, "y"_a.noconvert(), "decay"_a,
        "ends"_a.noconvert());
}
