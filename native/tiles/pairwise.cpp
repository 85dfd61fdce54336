// Dense tiles of sum_k term(x_k, y_k): squared distances, l1, minima, maxima, chi-square, Jensen.
//
// A block of kRows x kCols sums stays in registers while k runs over a slice of the features; between slices
// the sums wait in `work`, in double precision, so that slicing changes no bit of the result.
#include "pack.hpp"
#include "terms.hpp"
#include "tiles.hpp"

namespace mercer::MERCER_TILES {
namespace {

constexpr Index kSlice = 128;  // features at a time: a slice of Y, widened, is 128 KiB

constexpr Index kSums = kTileRows * kTileCols;
constexpr Index kPackedY = kSlice * kTileCols;
constexpr Index kPackedX = kSlice * kRows;
static_assert(kTileRows % kRows == 0 && kTileCols % kCols == 0);

// sums[r][c] += sum_k term(x[k][r], y[k][c]), from zero on if this is the first slice
template <class Term>
void block(bool first, Index count, const double* x, const double* y, double* sums) {
  Vec acc[kRows][kVectors] = {};
  if (!first)
    for (int r = 0; r < kRows; ++r)
      for (int v = 0; v < kVectors; ++v) acc[r][v] = load(sums + r * kTileCols + v * kLanes);
  for (Index k = 0; k < count; ++k, x += kRows, y += kCols) {
    Vec column[kVectors];
    for (int v = 0; v < kVectors; ++v) column[v] = load(y + v * kLanes);
    for (int r = 0; r < kRows; ++r) {
      Vec row = splat(x[r]);
      for (int v = 0; v < kVectors; ++v) acc[r][v] = Term::step(acc[r][v], row, column[v]);
    }
  }
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v) store(sums + r * kTileCols + v * kLanes, acc[r][v]);
}

// A long term has no use for many accumulators, which would only be spilled.
template <>
void block<Jensen>(bool first, Index count, const double* x, const double* y, double* sums) {
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v) {
      Vec acc = {};
      if (!first) acc = load(sums + r * kTileCols + v * kLanes);
      for (Index k = 0; k < count; ++k)
        acc = Jensen::step(acc, splat(x[k * kRows + r]), load(y + k * kCols + v * kLanes));
      store(sums + r * kTileCols + v * kLanes, acc);
    }
}

// Rows of X against rows of Y into a tile whose rows are kTileCols apart.
template <class Term, class T>
void fill(Dense<T> X, Dense<T> Y, double* sums, double* work) {
  double* packed_y = work;
  double* packed_x = packed_y + kPackedY;
  for (Index from = 0; from == 0 || from < X.cols; from += kSlice) {  // once also if there are no features
    Index count = X.cols - from < kSlice ? X.cols - from : kSlice;
    for (Index j = 0; j < Y.rows; j += kCols) pack<kCols>(Y, j, from, count, packed_y + j * kSlice);
    for (Index i = 0; i < X.rows; i += kRows) {
      pack<kRows>(X, i, from, count, packed_x);
      for (Index j = 0; j < Y.rows; j += kCols)
        block<Term>(from == 0, count, packed_x, packed_y + j * kSlice, sums + i * kTileCols + j);
    }
  }
}

template <class Term, class T>
void tile(Dense<T> X, Dense<T> Y, Output<T> out, double* work) {
  double* sums = work;
  fill<Term>(X, Y, sums, work + kSums);
  for (Index i = 0; i < X.rows; ++i)
    for (Index j = 0; j < Y.rows; ++j) out.data[i * out.stride + j] = static_cast<T>(sums[i * kTileCols + j]);
}

template <class T>
void fill_tiles(Tiles<T>& tiles) {
  tiles.fill[kSqEuclidean] = fill<SqEuclidean, T>;
  tiles.fill[kL1] = fill<L1, T>;
  tiles.fill[kMin] = fill<Min, T>;
  tiles.fill[kMax] = fill<Max, T>;
  tiles.fill[kChiSquare] = fill<ChiSquare, T>;
  tiles.fill[kJensen] = fill<Jensen, T>;
  tiles.fill[kDot] = fill<Dot, T>;
  tiles.pairwise[kSqEuclidean] = tile<SqEuclidean, T>;
  tiles.pairwise[kL1] = tile<L1, T>;
  tiles.pairwise[kMin] = tile<Min, T>;
  tiles.pairwise[kMax] = tile<Max, T>;
  tiles.pairwise[kChiSquare] = tile<ChiSquare, T>;
  tiles.pairwise[kJensen] = tile<Jensen, T>;
}

}  // namespace

void fill_pairwise(Table& table) {
  fill_tiles(table.f64);
  fill_tiles(table.f32);
  table.pairwise_work = kSums + kPackedY + kPackedX;
}

}  // namespace mercer::MERCER_TILES
