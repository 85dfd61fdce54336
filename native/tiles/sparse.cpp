// Tiles over compressed sparse rows: two sorted rows are merged over the union of their supports, where a
// missing entry is a zero.  Terms vanish at (0, 0), so nothing else contributes.
#include "terms.hpp"
#include "tiles.hpp"

namespace mercer::MERCER_TILES {
namespace {

template <class Term, class T, class I>
double merged(const T* x, const I* ix, Index nx, const T* y, const I* iy, Index ny) {
  double acc = 0.0;
  Index p = 0, q = 0;
  while (p < nx && q < ny) {
    I a = ix[p], b = iy[q];
    double u = a <= b ? static_cast<double>(x[p]) : 0.0;
    double v = b <= a ? static_cast<double>(y[q]) : 0.0;
    p += a <= b;
    q += b <= a;
    acc = Term::step(acc, u, v);
  }
  for (; p < nx; ++p) acc = Term::step(acc, static_cast<double>(x[p]), 0.0);
  for (; q < ny; ++q) acc = Term::step(acc, 0.0, static_cast<double>(y[q]));
  return acc;
}

template <class Term, class T, class I>
void tile(Csr<T, I> X, Csr<T, I> Y, Output<T> out) {
  for (Index i = 0; i < X.rows; ++i) {
    Index x = X.indptr[i], nx = X.indptr[i + 1] - x;
    for (Index j = 0; j < Y.rows; ++j) {
      Index y = Y.indptr[j], ny = Y.indptr[j + 1] - y;
      out.data[i * out.stride + j] =
          static_cast<T>(merged<Term>(X.data + x, X.indices + x, nx, Y.data + y, Y.indices + y, ny));
    }
  }
}

template <class T, class I>
void fill_tiles(CsrTile<T, I> (&tiles)[kOpCount]) {
  tiles[kSqEuclidean] = tile<SqEuclidean, T, I>;
  tiles[kL1] = tile<L1, T, I>;
  tiles[kMin] = tile<Min, T, I>;
  tiles[kMax] = tile<Max, T, I>;
  tiles[kChiSquare] = tile<ChiSquare, T, I>;
  tiles[kJensen] = tile<Jensen, T, I>;
}

}  // namespace

void fill_sparse(Table& table) {
  fill_tiles(table.f64.csr32);
  fill_tiles(table.f64.csr64);
  fill_tiles(table.f32.csr32);
  fill_tiles(table.f32.csr64);
}

}  // namespace mercer::MERCER_TILES
