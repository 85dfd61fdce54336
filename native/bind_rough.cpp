// mercer._native.RoughRows and SingleRows: see native/rough.hpp and native/single.hpp.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <stdexcept>

#include "bindings.hpp"
#include "rough.hpp"
#include "single.hpp"

namespace nb = nanobind;

void bind_rough(nb::module_& m) {
  using namespace nb::literals;
  using mercer::Index;
  using Points = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
  using Numbers = nb::ndarray<const Index, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  using Out = nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
  using Factors = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  using Sums = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  nb::class_<mercer::RoughRows>(m, "RoughRows")
      .def(
          "__init__",
          [](mercer::RoughRows* self, const Points& points) {
            new (self) mercer::RoughRows(points.data(), static_cast<Index>(points.shape(0)),
                                         static_cast<Index>(points.shape(1)));
          },
          "points"_a.noconvert())
      .def(
          "fill",
          [](const mercer::RoughRows& self, const Numbers& rows, const Numbers& slots, const Out& out,
             int threads) {
            nb::gil_scoped_release release;
            self.fill(static_cast<Index>(rows.shape(0)), rows.data(), slots.data(),
                      {out.data(), static_cast<Index>(out.shape(1))}, threads);
          },
          "rows"_a.noconvert(), "slots"_a.noconvert(), "out"_a.noconvert(), "threads"_a)
      .def(
          "fill_whole",
          [](const mercer::RoughRows& self, Index first, Index last, const Out& out, int threads) {
            nb::gil_scoped_release release;
            self.fill_whole(first, last, {out.data(), static_cast<Index>(out.shape(1))}, threads);
          },
          "first"_a, "last"_a, "out"_a.noconvert(), "threads"_a)
      .def_ro_static("MIRRORED", &mercer::RoughRows::kMirrored)
      .def(
          "fill_lower",
          [](const mercer::RoughRows& self, Index first, Index last, const Out& out, int threads) {
            nb::gil_scoped_release release;
            self.fill_lower(first, last, {out.data(), static_cast<Index>(out.shape(1))}, threads);
          },
          "first"_a, "last"_a, "out"_a.noconvert(), "threads"_a)
      .def(
          "add_product",
          [](const mercer::RoughRows& self, const Numbers& rows, const Factors& factors, const Sums& out,
             int threads) {
            nb::gil_scoped_release release;
            self.add_product(static_cast<Index>(rows.shape(0)), rows.data(), factors.data(), out.data(),
                             threads);
          },
          "rows"_a.noconvert(), "factors"_a.noconvert(), "out"_a.noconvert(), "threads"_a);
  using Doubles = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
  using Values = nb::ndarray<float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  nb::class_<mercer::SingleRows>(m, "SingleRows")
      .def(
          "__init__",
          [](mercer::SingleRows* self, const Doubles& points) {
            new (self) mercer::SingleRows(points.data(), static_cast<Index>(points.shape(0)),
                                          static_cast<Index>(points.shape(1)));
          },
          "points"_a.noconvert())
      .def(
          "fill",
          [](const mercer::SingleRows& self, Index row, Index first, const Values& out) {
            auto count = static_cast<Index>(out.shape(0));
            if (row < 0 || row >= self.size() || first < 0 || first + count > self.size())
              throw std::invalid_argument("points must be among those of the rows");
            nb::gil_scoped_release release;
            self.fill(row, first, count, out.data());
          },
          "row"_a, "first"_a, "out"_a.noconvert());
}
