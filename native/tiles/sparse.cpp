// Tiles over compressed sparse rows, pair by pair: two sorted rows are merged.
#include "merge.hpp"
#include "terms.hpp"
#include "tiles.hpp"

namespace mercer::MERCER_TILES {
namespace {

template <class Term, class T, class I>
void tile(Csr<T, I> X, Csr<T, I> Y, Output<T> out) {
  for (Index i = 0; i < X.rows; ++i)
    for (Index j = 0; j < Y.rows; ++j)
      out.data[i * out.stride + j] = static_cast<T>(merged<Term>(X, i, Y, j));
}

template <class Term, class T, class I>
void fill(Csr<T, I> X, Csr<T, I> Y, Index, double* target, double*) {
  for (Index i = 0; i < X.rows; ++i, target += kTileCols) {
    for (Index j = 0; j < Y.rows; ++j) target[j] = merged<Term>(X, i, Y, j);
    for (Index j = Y.rows; j < kTileCols; ++j) target[j] = 0.0;
  }
}

template <class Term, class T, class I>
void enter(int op, CsrTiles<T, I>& tiles) {
  tiles.pairwise[op] = tile<Term, T, I>;
  tiles.fill[op] = fill<Term, T, I>;
}

template <class T, class I>
void fill_tiles(CsrTiles<T, I>& tiles) {
  enter<L1>(kL1, tiles);
  enter<Min>(kMin, tiles);
  enter<Max>(kMax, tiles);
  enter<ChiSquare>(kChiSquare, tiles);
  enter<Jensen>(kJensen, tiles);
  tiles.pairwise[kSqEuclidean] = tile<SqEuclidean, T, I>;  // programs have a faster way: see columns.cpp
}

}  // namespace

void fill_sparse(Table& table) {
  fill_tiles(table.f64.csr32);
  fill_tiles(table.f64.csr64);
  fill_tiles(table.f32.csr32);
  fill_tiles(table.f32.csr64);
}

}  // namespace mercer::MERCER_TILES
