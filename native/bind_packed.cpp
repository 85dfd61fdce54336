// mercer._native.packed_product: native/packed.hpp on arrays of NumPy.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <new>

#include "bindings.hpp"
#include "packed.hpp"

namespace nb = nanobind;

namespace {

using mercer::Index;

template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::device::cpu>;
using Tiles = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

template <class T>
mercer::Strided<T> strided(const Matrix<T>& A) {
  return {A.data(), static_cast<Index>(A.stride(0)), static_cast<Index>(A.stride(1))};
}

void packed_product(const Tiles& tiles, const Matrix<const double>& V, const Matrix<double>& out,
                    int threads) {
  mercer::Status status;
  {
    nb::gil_scoped_release release;
    status = mercer::packed_product(tiles.data(), static_cast<Index>(V.shape(0)),
                                    static_cast<Index>(V.shape(1)), strided(V), strided(out), threads);
  }
  if (status == mercer::kOutOfMemory) throw std::bad_alloc();
}

}  // namespace

void bind_packed(nb::module_& m) {
  using namespace nb::literals;
  m.def("packed_product", &packed_product, "tiles"_a.noconvert(), "V"_a.noconvert(), "out"_a.noconvert(),
        "threads"_a);
}
