// mercer._native.orthonormalise and plane_distances: native/images/tangent.hpp on arrays of NumPy.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "../bindings.hpp"
#include "tangent.hpp"

namespace nb = nanobind;

namespace {

using Rows = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Vectors = nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Out = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

mercer::Planes planes(const Rows& rows, const Matrix& own) {
  return {rows.data(), own.data(), static_cast<std::int64_t>(rows.shape(0)),
          static_cast<std::int64_t>(own.shape(1)), static_cast<std::int64_t>(rows.shape(2))};
}

mercer::Look look_of(const nb::object& watch) {
  return [&watch] {
    nb::gil_scoped_acquire acquire;
    watch();
  };
}

}  // namespace

void bind_tangent(nb::module_& m) {
  using namespace nb::literals;
  m.def(
      "orthonormalise",
      [](const Vectors& vectors, int threads, const nb::object& watch) {
        double* data = vectors.data();
        auto n = static_cast<std::int64_t>(vectors.shape(0)), p = static_cast<std::int64_t>(vectors.shape(1)),
             d = static_cast<std::int64_t>(vectors.shape(2));
        mercer::Look look = look_of(watch);
        nb::gil_scoped_release release;
        mercer::orthonormalise(data, n, p, d, threads, look);
      },
      "vectors"_a.noconvert(), "threads"_a, "watch"_a);
  m.def(
      "plane_distances",
      [](const Rows& x, const Matrix& x_own, const Rows& y, const Matrix& y_own, const Matrix& products,
         const Out& out, int threads, const nb::object& watch) {
        mercer::Planes X = planes(x, x_own), Y = planes(y, y_own);
        const double* values = products.data();
        double* o = out.data();
        mercer::Look look = look_of(watch);
        nb::gil_scoped_release release;
        mercer::plane_distances(X, Y, values, o, threads, look);
      },
      "x"_a.noconvert(), "x_own"_a.noconvert(), "y"_a.noconvert(), "y_own"_a.noconvert(),
      "products"_a.noconvert(), "out"_a.noconvert(), "threads"_a, "watch"_a);
}
