#include "dot.hpp"

#include <algorithm>

namespace mercer {
namespace {

Gemm<double> dgemm = nullptr;
Gemm<float> sgemm = nullptr;

template <class T>
Gemm<T> gemm() {
  if constexpr (sizeof(T) == sizeof(double))
    return dgemm;
  else
    return sgemm;
}

// BLAS counts in int.  Longer dimensions are cut, and where the distance between rows does not fit, rows go
// one by one, for which no distance is needed.
constexpr Index kMost = Index{1} << 30;
Index step(Index stride) { return stride <= kMost ? kMost : 1; }

}  // namespace

void set_gemm(Gemm<double> d, Gemm<float> s) {
  dgemm = d;
  sgemm = s;
}

bool has_gemm() { return dgemm != nullptr && sgemm != nullptr; }

template <class T>
void dot(Dense<T> X, Dense<T> Y, Output<T> out) {
  if (X.cols == 0) {
    for (Index i = 0; i < X.rows; ++i) std::fill_n(out.data + i * out.stride, Y.rows, T{0});
    return;
  }
  Index rows = std::min(step(X.stride), step(out.stride)), cols = step(Y.stride);
  for (Index i = 0; i < X.rows; i += rows)
    for (Index j = 0; j < Y.rows; j += cols)
      for (Index k = 0; k < X.cols; k += kMost) {
        // Fortran sees row-major matrices transposed: out^T = Y X^T.
        auto n = static_cast<int>(std::min(rows, X.rows - i)),
             m = static_cast<int>(std::min(cols, Y.rows - j));
        auto depth = static_cast<int>(std::min(kMost, X.cols - k));
        auto lead = [](Index stride, int least) {
          return static_cast<int>(std::max<Index>(stride <= kMost ? stride : 1, least));
        };
        int ldx = lead(X.stride, depth), ldy = lead(Y.stride, depth), ldo = lead(out.stride, m);
        char yes = 'T', no = 'N';
        T one = 1, beta = k == 0 ? T{0} : T{1};
        gemm<T>()(&yes, &no, &m, &n, &depth, &one, const_cast<T*>(Y.data + j * Y.stride + k), &ldy,
                  const_cast<T*>(X.data + i * X.stride + k), &ldx, &beta, out.data + i * out.stride + j,
                  &ldo);
      }
}

template void dot(Dense<double>, Dense<double>, Output<double>);
template void dot(Dense<float>, Dense<float>, Output<float>);

}  // namespace mercer
