#include "dot.hpp"

#include <algorithm>

#include "grid.hpp"

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

constexpr Index kBlock = 512;

// BLAS counts in int.  Sums over more features are cut, and where the distance between two rows does not fit,
// rows go one by one, for which no distance is needed.
constexpr Index kMost = Index{1} << 30;
Index rows_at_once(Index stride) { return stride <= kMost ? kBlock : 1; }
int leading(Index stride, int least) {
  return static_cast<int>(std::max<Index>(stride <= kMost ? stride : 1, least));
}

template <class T>
void block(Dense<T> X, Dense<T> Y, Output<T> out) {
  Index rows = std::min(rows_at_once(X.stride), rows_at_once(out.stride)), cols = rows_at_once(Y.stride);
  for (Index i = 0; i < X.rows; i += rows)
    for (Index j = 0; j < Y.rows; j += cols)
      for (Index k = 0; k < X.cols; k += kMost) {
        // Fortran reads row-major matrices as their transposes: out^T = Y X^T.
        int n = static_cast<int>(std::min(rows, X.rows - i)),
            m = static_cast<int>(std::min(cols, Y.rows - j));
        int depth = static_cast<int>(std::min(kMost, X.cols - k));
        int ldx = leading(X.stride, depth), ldy = leading(Y.stride, depth), ldo = leading(out.stride, m);
        char yes = 'T', no = 'N';
        T one = 1, beta = k == 0 ? T{0} : T{1};
        gemm<T>()(&yes, &no, &m, &n, &depth, &one, const_cast<T*>(Y.data + j * Y.stride + k), &ldy,
                  const_cast<T*>(X.data + i * X.stride + k), &ldx, &beta, out.data + i * out.stride + j,
                  &ldo);
      }
}

}  // namespace

void set_gemm(Gemm<double> d, Gemm<float> s) {
  dgemm = d;
  sgemm = s;
}

bool has_gemm() { return dgemm != nullptr && sgemm != nullptr; }

template <class T>
void dot(Dense<T> X, Dense<T> Y, Output<T> out, int threads) noexcept {
  if (X.cols == 0) {
    for (Index i = 0; i < X.rows; ++i) std::fill_n(out.data + i * out.stride, Y.rows, T{0});
    return;
  }
  Index across = (Y.rows + kBlock - 1) / kBlock, count = (X.rows + kBlock - 1) / kBlock * across;
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (threads > 1 && count > 1)
  for (Index b = 0; b < count; ++b) {
    Index i = b / across * kBlock, j = b % across * kBlock;
    block(slice(X, i, std::min(kBlock, X.rows - i)), slice(Y, j, std::min(kBlock, Y.rows - j)),
          slice(out, i, j));
  }
}

template void dot(Dense<double>, Dense<double>, Output<double>, int) noexcept;
template void dot(Dense<float>, Dense<float>, Output<float>, int) noexcept;

}  // namespace mercer
