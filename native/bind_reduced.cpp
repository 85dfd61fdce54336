// mercer._native.fill_reduced: native/reduced.hpp on arrays of NumPy.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <stdexcept>

#include "bindings.hpp"
#include "reduced.hpp"

namespace nb = nanobind;

void bind_reduced(nb::module_& m) {
  using namespace nb::literals;
  using mercer::Index;
  using Points = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
  using Offsets = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  using Coefficients = nb::ndarray<const float, nb::shape<mercer::kDegree + 1, mercer::kSegments>,
                                   nb::c_contig, nb::device::cpu>;
  using Numbers = nb::ndarray<const Index, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  using Out = nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
  m.attr("BINADES") = mercer::kBinades;
  m.attr("SEGMENTS_PER_BINADE") = 1 << mercer::kSegmentBits;
  m.attr("DEGREE") = mercer::kDegree;
  m.def(
      "fill_reduced",
      [](const Points& x, const Offsets& a, const Points& y, const Offsets& b,
         const Coefficients& coefficients, const Numbers& slots, const Out& out, int threads) {
        if (x.shape(1) != y.shape(1) || a.shape(0) != x.shape(0) || b.shape(0) != y.shape(0) ||
            slots.shape(0) != x.shape(0) || out.shape(1) != y.shape(0))
          throw std::invalid_argument("points must have the same features, each an offset, and rows a slot");
        nb::gil_scoped_release release;
        mercer::fill_reduced({x.data(), a.data(), static_cast<Index>(x.shape(0))},
                             {y.data(), b.data(), static_cast<Index>(y.shape(0))},
                             static_cast<Index>(y.shape(1)), coefficients.data(), slots.data(),
                             {out.data(), static_cast<Index>(out.shape(1))}, threads);
      },
      "x"_a.noconvert(), "a"_a.noconvert(), "y"_a.noconvert(), "b"_a.noconvert(),
      "coefficients"_a.noconvert(), "slots"_a.noconvert(), "out"_a.noconvert(), "threads"_a);
}
