// Dense tiles of sum_k term(x_k, y_k): squared distances, l1, minima, maxima, chi-square, Jensen.
//
// A block of kRows x kCols sums stays in registers while k runs over a slice of the features; between slices
// the sums wait in memory, in double precision, so that slicing changes no bit of the result.
//
// Some sums have a fast form (fast_forms.hpp) that is exact enough for nearly all pairs.  It knows for which,
// and the others are computed again from the term itself.
#include "fast_forms.hpp"
#include "pack.hpp"
#include "terms.hpp"
#include "tiles.hpp"

namespace mercer::MERCER_TILES {
namespace {

constexpr Index kSlice = 128;  // features at a time: a slice of Y, widened, is 128 KiB

constexpr Index kSums = kTileRows * kTileCols;
constexpr Index kPackedY = kSlice * kTileCols;
constexpr Index kPackedX = kSlice * kRows;
static_assert(kTileRows % kRows == 0 && kTileCols % kCols == 0 && kSlice % kTogether == 0);

// sums[r][c] += sum_k term(x[k][r], y[k][c]), from zero on if this is the first slice; without a choice on
// the way, sums stay in registers.
template <class Term, bool first>
MERCER_INLINE void slice_of_block(Index count, const double* x, const double* y, double* sums) {
  Vec acc[kRows][kVectors];
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v)
      acc[r][v] = first ? splat(0.0) : load(sums + r * kTileCols + v * kLanes);
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

template <class Term>
void block(bool first, Index count, const double* x, const double* y, double* sums) {
  if (first)
    slice_of_block<Term, true>(count, x, y, sums);
  else
    slice_of_block<Term, false>(count, x, y, sums);
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

// Several features share a division, and the last ones share it with zeros.
template <>
void block<SharedDivision>(bool first, Index count, const double* x, const double* y, double* sums) {
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v) {
      Vec acc = {};
      if (!first) acc = load(sums + r * kTileCols + v * kLanes);
      for (Index k = 0; k < count; k += kTogether)
        acc = SharedDivision::step(acc, x + k * kRows + r, kRows, y + k * kCols + v * kLanes, kCols);
      store(sums + r * kTileCols + v * kLanes, acc);
    }
}

struct Slice {
  Index from, count;  // features from .. from + count - 1
  bool last;
};

// The same rows of a slice with zeros behind them, so that features can be taken kTogether at a time.
template <int width, class T>
MERCER_INLINE void pack_slice(Dense<T> A, Index first, Slice slice, double* panel) {
  pack<width>(A, first, slice.from, slice.count, panel);
  for (Index k = slice.count; k % kTogether != 0; ++k)
    for (int r = 0; r < width; ++r) panel[k * width + r] = 0.0;
}

// Calls visit(slice, i, x, j, y) for the rows i .. i + kRows - 1 of X, packed in x, and j .. j + kCols - 1 of
// Y, packed in y: slice after slice, and once also if there are no features.
template <class T, class Visit>
MERCER_INLINE void for_each_block(Dense<T> X, Dense<T> Y, double* work, Visit visit) {
  double* packed_y = work;
  double* packed_x = packed_y + kPackedY;
  for (Index from = 0; from == 0 || from < X.cols; from += kSlice) {
    bool last = X.cols - from <= kSlice;
    Slice slice{from, last ? X.cols - from : kSlice, last};
    for (Index j = 0; j < Y.rows; j += kCols) pack_slice<kCols>(Y, j, slice, packed_y + j * kSlice);
    for (Index i = 0; i < X.rows; i += kRows) {
      pack_slice<kRows>(X, i, slice, packed_x);
      for (Index j = 0; j < Y.rows; j += kCols) visit(slice, i, packed_x, j, packed_y + j * kSlice);
    }
  }
}

// Rows of X against rows of Y into a tile whose rows are kTileCols apart.
template <class Term, class T>
void fill(Dense<T> X, Dense<T> Y, double* sums, double* work) {
  for_each_block(X, Y, work, [=](Slice slice, Index i, const double* x, Index j, const double* y) {
    block<Term>(slice.from == 0, slice.count, x, y, sums + i * kTileCols + j);
  });
}

// squares[r] += sum_k panel[k][r]^2
template <int width>
MERCER_INLINE void add_squares(Index count, const double* panel, double* squares) {
  for (int r = 0; r < width; r += kLanes) {
    Vec acc = load(squares + r);
    for (Index k = 0; k < count; ++k)
      acc = Dot::step(acc, load(panel + k * width + r), load(panel + k * width + r));
    store(squares + r, acc);
  }
}

// Makes values of the sums of a fast form.  Returns whether some of them are not to be trusted: these are
// NaN.
template <class Fast>
bool finish(const double* x_squares, const double* y_squares, double* sums) {
  Vec all = {};  // a sum of numbers >= 0, so that NaN comes of NaN alone
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v) {
      double* place = sums + r * kTileCols + v * kLanes;
      Vec value = Fast::value(load(place), splat(x_squares[r]) + load(y_squares + v * kLanes));
      store(place, value);
      all += value;
    }
  return any_nan(all);
}

// Takes the places of NaN from `careful`.
void repair(const double* careful, double* sums) {
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v) {
      Index place = r * kTileCols + v * kLanes;
      Vec value = load(sums + place);
      store(sums + place, value == value ? value : load(careful + place));
    }
}

// The same as fill<Fast::Term>, but for rounding.  Which form a value comes from depends on its pair alone.
template <class Fast, class T>
void fill_checked(Dense<T> X, Dense<T> Y, double* sums, double* work) {
  double* careful = work + kPackedY + kPackedX;
  alignas(64) double x_squares[kTileRows] = {}, y_squares[kTileCols] = {};
  bool doubtful[kTileRows / kRows][kTileCols / kCols], some = false;
  for_each_block(X, Y, work, [&](Slice slice, Index i, const double* x, Index j, const double* y) {
    if (Fast::kNeedsSquares && j == 0) add_squares<kRows>(slice.count, x, x_squares + i);
    if (Fast::kNeedsSquares && i == 0) add_squares<kCols>(slice.count, y, y_squares + j);
    double* here = sums + i * kTileCols + j;
    block<typename Fast::Sum>(slice.from == 0, slice.count, x, y, here);
    if (slice.last) some |= doubtful[i / kRows][j / kCols] = finish<Fast>(x_squares + i, y_squares + j, here);
  });
  if (!some) return;
  for_each_block(X, Y, work, [&](Slice slice, Index i, const double* x, Index j, const double* y) {
    if (!doubtful[i / kRows][j / kCols]) return;
    Index here = i * kTileCols + j;
    block<typename Fast::Term>(slice.from == 0, slice.count, x, y, careful + here);
    if (slice.last) repair(careful + here, sums + here);
  });
}

template <class T, FillTile<T> fill_tile>
void tile(Dense<T> X, Dense<T> Y, Output<T> out, double* work) {
  double* sums = work;
  fill_tile(X, Y, sums, work + kSums);
  for (Index i = 0; i < X.rows; ++i)
    for (Index j = 0; j < Y.rows; ++j) out.data[i * out.stride + j] = static_cast<T>(sums[i * kTileCols + j]);
}

template <class T, FillTile<T> fill_tile>
void enter(Tiles<T>& tiles, Op op) {
  tiles.fill[op] = fill_tile;
  tiles.pairwise[op] = tile<T, fill_tile>;
}

template <class T>
void fill_tiles(Tiles<T>& tiles) {
  constexpr bool single = sizeof(T) == sizeof(float);
  enter<T, single ? fill_checked<Expanded, T> : fill<SqEuclidean, T>>(tiles, kSqEuclidean);
  enter<T, fill<L1, T>>(tiles, kL1);
  enter<T, fill<Min, T>>(tiles, kMin);
  enter<T, fill<Max, T>>(tiles, kMax);
  enter<T, fill_checked<SharedDivision, T>>(tiles, kChiSquare);
  enter<T, fill<Jensen, T>>(tiles, kJensen);
  tiles.fill[kDot] = fill<Dot, T>;
  tiles.fill_expanded_distances = fill_checked<Expanded, T>;
}

}  // namespace

void fill_pairwise(Table& table) {
  fill_tiles(table.f64);
  fill_tiles(table.f32);
  table.pairwise_work = 2 * kSums + kPackedY + kPackedX;
}

}  // namespace mercer::MERCER_TILES
