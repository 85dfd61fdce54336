// Functions of sparse matrices on arrays of NumPy; see chebyshev.hpp.  `watch` is called now and then; what
// it raises ends the work.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "../bindings.hpp"
#include "chebyshev.hpp"

namespace nb = nanobind;

namespace mercer {
namespace {

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Block = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void bind(nb::module_& m) {
  using namespace nb::literals;
  m.attr("CHEBYSHEV_COLUMNS") = kMostColumns;
  m.def(
      "chebyshev",
      [](const Vector<std::int64_t>& starts, const Vector<std::int32_t>& columns,
         const Vector<double>& values, const Vector<double>& coefficients, double center, double radius,
         const Block& current, const Block& previous, const Block& sum, int threads,
         const nb::callable& watch) {
        SparseMatrix matrix{starts.data(), columns.data(), values.data(),
                            static_cast<std::int64_t>(starts.shape(0)) - 1};
        Expansion expansion{coefficients.data(), static_cast<std::int64_t>(coefficients.shape(0)), center,
                            radius};
        Look look = [&watch] {
          nb::gil_scoped_acquire acquire;
          if (PyErr_CheckSignals() != 0) throw nb::python_error();
          watch();
        };
        nb::gil_scoped_release release;
        chebyshev(matrix, expansion, static_cast<int>(sum.shape(1)), current.data(), previous.data(),
                  sum.data(), threads, look);
      },
      "starts"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(), "coefficients"_a.noconvert(),
      "center"_a, "radius"_a, "current"_a.noconvert(), "previous"_a.noconvert(), "sum"_a.noconvert(),
      "threads"_a, "watch"_a);
}

}  // namespace
}  // namespace mercer

void bind_chebyshev(nanobind::module_& m) { mercer::bind(m); }
