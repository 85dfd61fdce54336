// mercer._native.align_series and gauge_series: native/sequences/series.hpp on arrays of NumPy.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "../bindings.hpp"
#include "series.hpp"

namespace nb = nanobind;

namespace mercer {
namespace {

using Steps = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Starts = nb::ndarray<const Index, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Gauge = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Out = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Ratios = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// An operation without a gauge is given an empty one.
SeriesSet series_of(const Steps& values, const Starts& starts, const Gauge& gauge) {
  return {values.data(), gauge.shape(0) == 0 ? nullptr : gauge.data(), starts.data(),
          static_cast<Index>(starts.shape(0)) - 1, static_cast<Index>(values.shape(1))};
}

AlignmentTask task_of(int op, double scale, Index band, int threads, const nb::object& watch) {
  return {static_cast<Alignment>(op), scale, band, threads, [&watch] {
            nb::gil_scoped_acquire acquire;
            watch();
          }};
}

}  // namespace
}  // namespace mercer

void bind_series(nb::module_& m) {
  using namespace mercer;
  using namespace nb::literals;
  m.attr("DTW") = static_cast<int>(kDtw);
  m.attr("DIVISIBLE") = static_cast<int>(kDivisible);
  m.attr("GAUSSIAN") = static_cast<int>(kGaussian);
  m.attr("LOG_DIVISIBLE") = static_cast<int>(kLogDivisible);
  m.attr("LOG_GAUSSIAN") = static_cast<int>(kLogGaussian);
  m.def(
      "align_series",
      [](int op, const Steps& x, const Starts& x_starts, const Gauge& x_gauge, const Steps& y,
         const Starts& y_starts, const Gauge& y_gauge, double scale, Index band, bool symmetric,
         const Out& out, int threads, const nb::object& watch) {
        SeriesSet X = series_of(x, x_starts, x_gauge), Y = series_of(y, y_starts, y_gauge);
        AlignmentTask task = task_of(op, scale, band, threads, watch);
        double* o = out.data();
        nb::gil_scoped_release release;
        align(task, X, Y, symmetric, o);
      },
      "op"_a, "x"_a.noconvert(), "x_starts"_a.noconvert(), "x_gauge"_a.noconvert(), "y"_a.noconvert(),
      "y_starts"_a.noconvert(), "y_gauge"_a.noconvert(), "scale"_a, "band"_a, "symmetric"_a,
      "out"_a.noconvert(), "threads"_a, "watch"_a);
  m.def(
      "gauge_series",
      [](int op, const Steps& x, const Starts& starts, double scale, Index band, const Ratios& out,
         const Ratios& norms, int threads, const nb::object& watch) {
        SeriesSet X{x.data(), nullptr, starts.data(), static_cast<Index>(starts.shape(0)) - 1,
                    static_cast<Index>(x.shape(1))};
        AlignmentTask task = task_of(op, scale, band, threads, watch);
        double *o = out.data(), *sums = norms.data();
        nb::gil_scoped_release release;
        gauge(task, X, o, sums);
      },
      "op"_a, "x"_a.noconvert(), "starts"_a.noconvert(), "scale"_a, "band"_a, "out"_a.noconvert(),
      "norms"_a.noconvert(), "threads"_a, "watch"_a);
}
