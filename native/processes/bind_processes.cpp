// mercer._native.kalman_*: native/processes/state_space.hpp on arrays of NumPy.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "../bindings.hpp"
#include "state_space.hpp"

namespace nb = nanobind;

namespace {

using Kinds = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Rows = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Cube = nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

mercer::Line line_of(const Kinds& kinds, const Vector& variances, const Vector& rates, const Vector& times) {
  mercer::Line line{{}, times.data(), static_cast<std::int64_t>(times.shape(0))};
  for (std::size_t j = 0; j < kinds.shape(0); ++j) {
    line.components.push_back(
        {static_cast<mercer::Kind>(kinds.data()[j]), variances.data()[j], rates.data()[j]});
  }
  return line;
}

mercer::Look look_at(const nb::object& watch) {
  return [&watch] {
    nb::gil_scoped_acquire acquire;
    watch();
  };
}

std::int64_t columns_of(const auto& array) { return static_cast<std::int64_t>(array.shape(1)); }

}  // namespace

void bind_processes(nb::module_& m) {
  using namespace mercer;
  using namespace nb::literals;
  m.attr("MOST_STATES") = kMostStates;
  m.def(
      "kalman_filter",
      [](const Kinds& kinds, const Vector& scales, const Vector& rates, const Vector& times,
         const Vector& noise, const Rows& gains, const Numbers& variances, const nb::object& watch) {
        const Line line = line_of(kinds, scales, rates, times);
        const Look look = look_at(watch);
        nb::gil_scoped_release release;
        return kalman_filter(line, noise.data(), gains.data(), variances.data(), look);
      },
      "kinds"_a.noconvert(), "scales"_a.noconvert(), "rates"_a.noconvert(), "times"_a.noconvert(),
      "noise"_a.noconvert(), "gains"_a.noconvert(), "variances"_a.noconvert(), "watch"_a);
  m.def(
      "kalman_innovations",
      [](const Kinds& kinds, const Vector& scales, const Vector& rates, const Vector& times,
         const Matrix& gains, const Matrix& B, const Rows& out, const nb::object& watch) {
        const Line line = line_of(kinds, scales, rates, times);
        const Look look = look_at(watch);
        nb::gil_scoped_release release;
        kalman_innovations(line, gains.data(), B.data(), columns_of(B), out.data(), look);
      },
      "kinds"_a.noconvert(), "scales"_a.noconvert(), "rates"_a.noconvert(), "times"_a.noconvert(),
      "gains"_a.noconvert(), "B"_a.noconvert(), "out"_a.noconvert(), "watch"_a);
  m.def(
      "kalman_solve",
      [](const Kinds& kinds, const Vector& scales, const Vector& rates, const Vector& times,
         const Matrix& gains, const Vector& variances, const Matrix& B, const Rows& out,
         const nb::object& watch) {
        const Line line = line_of(kinds, scales, rates, times);
        const Look look = look_at(watch);
        nb::gil_scoped_release release;
        kalman_solve(line, gains.data(), variances.data(), B.data(), columns_of(B), out.data(), look);
      },
      "kinds"_a.noconvert(), "scales"_a.noconvert(), "rates"_a.noconvert(), "times"_a.noconvert(),
      "gains"_a.noconvert(), "variances"_a.noconvert(), "B"_a.noconvert(), "out"_a.noconvert(), "watch"_a);
  m.def(
      "kalman_diagonal",
      [](const Kinds& kinds, const Vector& scales, const Vector& rates, const Vector& times,
         const Matrix& gains, const Vector& variances, const Numbers& out, const nb::object& watch) {
        const Line line = line_of(kinds, scales, rates, times);
        const Look look = look_at(watch);
        nb::gil_scoped_release release;
        kalman_diagonal(line, gains.data(), variances.data(), out.data(), look);
      },
      "kinds"_a.noconvert(), "scales"_a.noconvert(), "rates"_a.noconvert(), "times"_a.noconvert(),
      "gains"_a.noconvert(), "variances"_a.noconvert(), "out"_a.noconvert(), "watch"_a);
  m.def(
      "kalman_variances",
      [](const Kinds& kinds, const Vector& scales, const Vector& rates, const Vector& times,
         const Matrix& gains, const Vector& variances, const Vector& at, const Numbers& out,
         const nb::object& watch) {
        const Line line = line_of(kinds, scales, rates, times);
        const Look look = look_at(watch);
        nb::gil_scoped_release release;
        kalman_variances(line, gains.data(), variances.data(), at.data(),
                         static_cast<std::int64_t>(at.shape(0)), out.data(), look);
      },
      "kinds"_a.noconvert(), "scales"_a.noconvert(), "rates"_a.noconvert(), "times"_a.noconvert(),
      "gains"_a.noconvert(), "variances"_a.noconvert(), "at"_a.noconvert(), "out"_a.noconvert(), "watch"_a);
  m.def(
      "kalman_product",
      [](const Kinds& kinds, const Vector& scales, const Vector& rates, const Vector& times, const Matrix& C,
         const Vector& at, const Rows& out, const nb::object& watch) {
        const Line line = line_of(kinds, scales, rates, times);
        const Look look = look_at(watch);
        nb::gil_scoped_release release;
        kernel_product(line, C.data(), columns_of(C), at.data(), static_cast<std::int64_t>(at.shape(0)),
                       out.data(), look);
      },
      "kinds"_a.noconvert(), "scales"_a.noconvert(), "rates"_a.noconvert(), "times"_a.noconvert(),
      "C"_a.noconvert(), "at"_a.noconvert(), "out"_a.noconvert(), "watch"_a);
  m.def(
      "kalman_slopes",
      [](const Kinds& kinds, const Vector& scales, const Vector& rates, const Vector& times,
         const Vector& noise, const Matrix& Y, const Rows& products, const Cube& slopes,
         const Numbers& determinants, const nb::object& watch) {
        const Line line = line_of(kinds, scales, rates, times);
        const Look look = look_at(watch);
        nb::gil_scoped_release release;
        return kalman_slopes(line, noise.data(), Y.data(), columns_of(Y), products.data(), slopes.data(),
                             determinants.data(), look);
      },
      "kinds"_a.noconvert(), "scales"_a.noconvert(), "rates"_a.noconvert(), "times"_a.noconvert(),
      "noise"_a.noconvert(), "Y"_a.noconvert(), "products"_a.noconvert(), "slopes"_a.noconvert(),
      "determinants"_a.noconvert(), "watch"_a);
}
