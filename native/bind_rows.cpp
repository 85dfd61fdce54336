// mercer._native.add_rows: native/rows.hpp on arrays of NumPy.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "bindings.hpp"
#include "rows.hpp"

namespace nb = nanobind;

namespace {

using mercer::Index;

template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<const Index, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Factors = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Sums = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
void add_rows(const Matrix<T>& K, const Numbers& rows, const Factors& factors, const Sums& out, int threads) {
  nb::gil_scoped_release release;
  mercer::add_rows(K.data(), static_cast<Index>(K.shape(1)), static_cast<Index>(rows.shape(0)), rows.data(),
                   factors.data(), static_cast<Index>(out.shape(0)), out.data(), threads);
}

template <class T>
void bind_for(nb::module_& m) {
  using namespace nb::literals;
  m.def("add_rows", &add_rows<T>, "K"_a.noconvert(), "rows"_a.noconvert(), "factors"_a.noconvert(),
        "out"_a.noconvert(), "threads"_a);
}

}  // namespace

void bind_rows(nb::module_& m) {
  bind_for<float>(m);
  bind_for<double>(m);
}
