// mercer._native.fourier_features: fourier.hpp on arrays of NumPy.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <new>
#include <optional>

#include "../bindings.hpp"
#include "fourier.hpp"

namespace nb = nanobind;

namespace mercer {
namespace {

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Rows = nb::ndarray<T, nb::ndim<2>, nb::device::cpu>;

Dense<double> dense(const Matrix& A) {
  auto cols = static_cast<Index>(A.shape(1));
  return {A.data(), static_cast<Index>(A.shape(0)), cols, cols};
}

template <class T>
void bind_for(nb::module_& m) {
  using namespace nb::literals;
  m.def(
      "fourier_features",
      [](const Matrix& X, const std::optional<Matrix>& frequencies, const std::optional<Vector>& offsets,
         double scale, const Rows<T>& out, int threads) {
        auto x = dense(X);
        Dense<double> w = frequencies ? dense(*frequencies) : Dense<double>{nullptr, 0, 0, 0};
        const double* b = offsets ? offsets->data() : nullptr;
        // A single row has no distance to the next one, and NumPy may state any.
        Output<T> o{out.data(), out.shape(0) > 1 ? static_cast<Index>(out.stride(0)) : 0};
        Status status;
        {
          nb::gil_scoped_release release;
          status = fourier_features(x, w, b, scale, o, threads);
        }
        if (status == kOutOfMemory) throw std::bad_alloc();
      },
      "X"_a.noconvert(), "frequencies"_a.noconvert().none(), "offsets"_a.noconvert().none(), "scale"_a,
      "out"_a.noconvert(), "threads"_a);
}

}  // namespace
}  // namespace mercer

void bind_fourier(nb::module_& m) {
  mercer::bind_for<double>(m);
  mercer::bind_for<float>(m);
}
