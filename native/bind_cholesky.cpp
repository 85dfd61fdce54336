// mercer._native.eliminate, solve_rows, solve_forward and solve_backward: native/cholesky.hpp on arrays of
// NumPy.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "bindings.hpp"
#include "cholesky.hpp"

namespace nb = nanobind;

namespace {

using mercer::Index;

template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

using Blocks = nb::ndarray<float, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using ConstBlocks = nb::ndarray<const float, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

bool eliminate(const Matrix<float>& A, Index first, Index last, const Blocks& inverses, int threads) {
  nb::gil_scoped_release release;
  return mercer::eliminate(A.data(), static_cast<Index>(A.shape(0)), first, last, inverses.data(), threads);
}

template <auto solve>
void solve_all(const Matrix<const float>& L, const ConstBlocks& inverses, const Matrix<float>& rows,
               int threads) {
  nb::gil_scoped_release release;
  solve(L.data(), static_cast<Index>(L.shape(0)), inverses.data(), rows.data(),
        static_cast<Index>(rows.shape(0)), threads);
}

using Vector = nb::ndarray<float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void solve_backward(const Matrix<const float>& L, const ConstBlocks& inverses, const Vector& x, int threads) {
  nb::gil_scoped_release release;
  mercer::solve_backward(L.data(), static_cast<Index>(L.shape(0)), inverses.data(), x.data(), threads);
}

}  // namespace

void bind_cholesky(nb::module_& m) {
  using namespace nb::literals;
  m.attr("FACTOR_BLOCK") = mercer::kFactorBlock;
  m.def("eliminate", &eliminate, "A"_a.noconvert(), "first"_a, "last"_a, "inverses"_a.noconvert(),
        "threads"_a);
  m.def("solve_rows", &solve_all<mercer::solve_rows>, "L"_a.noconvert(), "inverses"_a.noconvert(),
        "rows"_a.noconvert(), "threads"_a);
  m.def("solve_forward", &solve_all<mercer::solve_forward>, "L"_a.noconvert(), "inverses"_a.noconvert(),
        "rows"_a.noconvert(), "threads"_a);
  m.def("solve_backward", &solve_backward, "L"_a.noconvert(), "inverses"_a.noconvert(), "x"_a.noconvert(),
        "threads"_a);
}
