// Dot products of compressed sparse rows, and squared distances out of them.
//
// The rows Y of a tile are turned over: every column that occurs is either a list of (row, value) or, if many
// rows have it, a full vector in a panel.  A row of X then adds x_k times column k to its sums for its own
// entries only, one after the other:
//
//   Y, 128 rows         columns that occur        a row of X           its 128 sums
//   . 2 . . 1 .         1: (row 0, 2.0)           (1, 5.0)     -->     += 5.0 * column 1
//   . . . . 3 .   -->   4: | 1.0 3.0 ... |        (4, 7.0)     -->     += 7.0 * column 4
//
// To add a column in full and to add its list gives the same bits, since zeros change no sum, and columns
// come in order: a dot product depends on its pair alone.
//
// At most kEntries entries are turned over at a time, so that the scratch area is small whatever the width.
// The columns of such a range are found again through a table of their names, which is as long as the range
// or, where that would be much longer than the entries, an open-addressing hash table.
#include "merge.hpp"
#include "terms.hpp"
#include "tiles.hpp"

namespace mercer::MERCER_TILES {
namespace {

using Slot = std::int32_t;

constexpr Index kEntries = 1 << 14;
constexpr Index kTable = 4 * kEntries;
constexpr Index kPad = 8;                  // a panel has whole vectors of every instruction set
constexpr Index kPanel = kPad * kEntries;  // a column is full from one row in kPad on
constexpr Slot kNone = -1, kFull = -1;

struct Column {
  Index name;
  Slot begin;   // among the entries or, of a full column, in the panel
  Slot length;  // of the list, or kFull
};

// Columns first .. end - 1 of the rows Y of a tile, turned over.
struct Columns {
  Index first, end;
  Index stride;  // of the panel
  int shift;     // of the hash; 0 if the table has one place per column
  Index size;    // of the table
  Index count;   // of columns that occur
  Slot* table;   // place -> number of the column, or kNone
  Column* columns;
  double* values;
  Slot* rows;
  Slot* found;  // the number of the column of every entry, in the order of the rows of Y
  double* panel;
};

constexpr Index doubles(Index bytes) { return (bytes + 63) / 64 * 8; }
constexpr Index kTableWork = doubles(kTable * sizeof(Slot));
constexpr Index kColumnsWork = doubles(kEntries * sizeof(Column));
constexpr Index kRowsWork = doubles(kEntries * sizeof(Slot));

Columns columns_in(double* work, Index cols) {
  Columns c{};
  c.stride = (cols + kPad - 1) / kPad * kPad;
  c.panel = work, work += kPanel;
  c.values = work, work += kEntries;
  c.table = reinterpret_cast<Slot*>(work), work += kTableWork;
  c.columns = reinterpret_cast<Column*>(work), work += kColumnsWork;
  c.rows = reinterpret_cast<Slot*>(work), work += kRowsWork;
  c.found = reinterpret_cast<Slot*>(work);
  return c;
}

MERCER_INLINE Index place_of(const Columns& c, Index name) {
  if (c.shift == 0) return name - c.first;
  return static_cast<Index>((static_cast<std::uint64_t>(name) * 0x9e3779b97f4a7c15u) >> c.shift);
}

// The number of a column, or kNone; `place` is where its number stands or would stand.
MERCER_INLINE Slot find(const Columns& c, Index name, Index& place) {
  for (place = place_of(c, name);; place = place + 1 < c.size ? place + 1 : 0) {
    Slot slot = c.table[place];
    if (slot == kNone || c.columns[slot].name == name) return slot;
  }
}

// Entries of row j, from position p on, that lie in columns before `end`.
template <class T, class I>
Index entries_before(Csr<T, I> Y, Index j, Index p, Index end) {
  Index low = p, high = Y.indptr[j + 1];
  while (low < high) {
    Index middle = low + (high - low) / 2;
    if (static_cast<Index>(Y.indices[middle]) < end)
      low = middle + 1;
    else
      high = middle;
  }
  return low - p;
}

// Chooses the next range of columns, of at most kEntries entries, and returns how many there are: 0 at the
// end.  A column has at most one entry per row, so that the search ends at kEntries / kTileRows columns.
template <class T, class I>
Index next_range(Csr<T, I> Y, const Index* next, Index cols, Columns& c) {
  Index left = 0, first = cols;
  for (Index j = 0; j < Y.rows; ++j) {
    Index remain = Y.indptr[j + 1] - next[j];
    if (remain > 0 && Y.indices[next[j]] < first) first = Y.indices[next[j]];
    left += remain;
  }
  c.first = first, c.end = cols;
  for (Index width = cols - first; left > kEntries;) {
    width = (width + 1) / 2;
    c.end = first + width;
    left = 0;
    for (Index j = 0; j < Y.rows; ++j) left += entries_before(Y, j, next[j], c.end);
  }
  return left;
}

// An empty table for this number of entries.
void clear_table(Columns& c, Index entries) {
  c.size = c.end - c.first;
  c.shift = 0;
  if (c.size > 4 * entries) {
    for (c.size = 2, c.shift = 63; c.size < 2 * entries; c.size *= 2) --c.shift;
  }
  for (Index p = 0; p < c.size; ++p) c.table[p] = kNone;
  c.count = 0;
}

// Calls visit(j, p) for the entries p of the rows j that lie before the end of the range.
template <class T, class I, class Visit>
MERCER_INLINE void for_each_entry(Csr<T, I> Y, const Index* next, Index end, Visit visit) {
  for (Index j = 0; j < Y.rows; ++j)
    for (Index p = next[j]; p < Y.indptr[j + 1] && Y.indices[p] < end; ++p) visit(j, p);
}

template <class T, class I>
void count_entries(Csr<T, I> Y, const Index* next, Columns& c) {
  Slot* found = c.found;
  for_each_entry(Y, next, c.end, [&](Index, Index p) {
    Index name = Y.indices[p], place;
    Slot slot = find(c, name, place);
    if (slot == kNone) {
      slot = c.table[place] = static_cast<Slot>(c.count++);
      c.columns[slot] = {name, 0, 0};
    }
    ++c.columns[slot].length;
    *found++ = slot;
  });
}

// Room for each column, in the panel if its list is not shorter than its vector has vectors of eight.
void lay_out(Columns& c) {
  Slot listed = 0, panel = 0;
  for (Index s = 0; s < c.count; ++s) {
    Column& column = c.columns[s];
    if (kPad * column.length >= c.stride) {
      column.begin = panel, column.length = kFull;
      for (Index j = 0; j < c.stride; ++j) c.panel[panel + j] = 0.0;
      panel += static_cast<Slot>(c.stride);
    } else {
      column.begin = listed;
      listed += column.length;
      column.length = 0;
    }
  }
}

// Puts the entries where they belong and moves `next` behind them.
template <class T, class I>
void place_entries(Csr<T, I> Y, Index* next, Columns& c) {
  const Slot* found = c.found;
  for_each_entry(Y, next, c.end, [&](Index j, Index p) {
    Column& column = c.columns[*found++];
    auto value = static_cast<double>(Y.data[p]);
    if (column.length == kFull) {
      c.panel[column.begin + j] = value;
    } else {
      Index at = column.begin + column.length++;
      c.rows[at] = static_cast<Slot>(j);
      c.values[at] = value;
    }
    next[j] = p + 1;
  });
}

// sums += x times a column
MERCER_INLINE void add_column(const Columns& c, const Column& column, double x, double* sums) {
  if (column.length == kFull) {
    const double* y = c.panel + column.begin;
    Vec factor = splat(x);
    for (Index j = 0; j < c.stride; j += kLanes) store(sums + j, muladd(factor, load(y + j), load(sums + j)));
  } else {
    for (Index p = column.begin; p < column.begin + column.length; ++p) {
      double& sum = sums[c.rows[p]];
      sum = muladd(x, c.values[p], sum);
    }
  }
}

template <class T, class I>
void dot(Csr<T, I> X, Csr<T, I> Y, Index cols, double* target, double* work) {
  Index next_x[kTileRows], next_y[kTileCols];
  Columns c = columns_in(work, Y.rows);
  for (Index i = 0; i < X.rows; ++i) {
    next_x[i] = X.indptr[i];
    for (Index j = 0; j < c.stride; ++j) target[i * kTileCols + j] = 0.0;
  }
  for (Index j = 0; j < Y.rows; ++j) next_y[j] = Y.indptr[j];
  while (Index entries = next_range(Y, next_y, cols, c)) {
    clear_table(c, entries);
    count_entries(Y, next_y, c);
    lay_out(c);
    place_entries(Y, next_y, c);
    for_each_entry(X, next_x, c.end, [&](Index i, Index p) {
      next_x[i] = p + 1;
      Index name = X.indices[p], place;
      if (name < c.first) return;
      Slot slot = find(c, name, place);
      if (slot != kNone)
        add_column(c, c.columns[slot], static_cast<double>(X.data[p]), target + i * kTileCols);
    });
  }
}

// What decides whether |x|^2 + |y|^2 - 2 x.y is good enough for a squared distance D.  With u = 2^-53, p and
// q entries stored in the rows and S = |x|^2 + |y|^2, rounding makes an error of at most
//
//   (p + q + 1) u S + u D
//
// (the squares are sums of p and of q terms, the product of at most min(p, q), and |2 x.y| <= S).  Asked is a
// relative error of (d + 8) eps = (2 d + 16) v, where v = 2^-53, or 2^-24 for float32 data.  It is kept if
//
//   D >= t S,  t = (p + q + 4) u / ((2 d + 12) v)
//
// with room for the rounding of the test itself and of the result, as long as (2 d)^2 v is below 1: a larger
// d counts as the most for which it is.  Every other pair is summed from its differences, and so are those
// whose squares leave the range.  Both t and S are sums of a part of x and a part of y.
struct Part {
  double square, share;
};

template <class T, class I>
Part part(Csr<T, I> A, Index i, Index cols) {
  constexpr bool single = sizeof(T) == sizeof(float);
  constexpr Index most = Index{1} << (single ? 10 : 20);
  double square = 0.0;
  for (Index p = A.indptr[i]; p < A.indptr[i + 1]; ++p) {
    auto value = static_cast<double>(A.data[p]);
    square = muladd(value, value, square);
  }
  double stored = static_cast<double>(A.indptr[i + 1] - A.indptr[i]) * (single ? 0x1p-29 : 1.0);
  double margin = single ? 0x1p-28 : 2.0;
  return {square, (stored + margin) / static_cast<double>(2 * (cols < most ? cols : most) + 12)};
}

constexpr double kSmall = 0x1p-900, kLargest = 0x1.fffffffffffffp1023;

template <class T, class I>
void sqeuclidean(Csr<T, I> X, Csr<T, I> Y, Index cols, double* target, double* work) {
  dot(X, Y, cols, target, work);
  alignas(64) double squares[kTileCols] = {}, shares[kTileCols] = {}, cancelled[kTileCols];
  for (Index j = 0; j < Y.rows; ++j) {
    Part y = part(Y, j, cols);
    squares[j] = y.square, shares[j] = y.share;
  }
  for (Index i = 0; i < X.rows; ++i, target += kTileCols) {
    Part x = part(X, i, cols);
    Vec any = {};
    for (Index j = 0; j < Y.rows; j += kLanes) {
      Vec sum = x.square + load(squares + j);
      Vec distance = sum - 2.0 * load(target + j);
      Vec least = larger(sum * (x.share + load(shares + j)), splat(kSmall));
      Vec lost = distance >= least ? Vec{} : splat(1.0);
      lost = distance <= kLargest ? lost : splat(1.0);
      any += lost;
      store(cancelled + j, lost);
      store(target + j, distance);
    }
    double lanes[kLanes], found = 0.0;
    store(lanes, any);
    for (double lane : lanes) found += lane;
    for (Index j = 0; found > 0.0 && j < Y.rows; ++j)
      if (cancelled[j] != 0.0) target[j] = merged<SqEuclidean>(X, i, Y, j);
  }
}

template <class T, class I>
void fill_tiles(CsrTiles<T, I>& tiles) {
  tiles.fill[kDot] = dot<T, I>;
  tiles.fill[kSqEuclidean] = sqeuclidean<T, I>;
}

}  // namespace

void fill_columns(Table& table) {
  fill_tiles(table.f64.csr32);
  fill_tiles(table.f64.csr64);
  fill_tiles(table.f32.csr32);
  fill_tiles(table.f32.csr64);
  table.columns_work = kPanel + kEntries + kTableWork + kColumnsWork + 2 * kRowsWork;
}

}  // namespace mercer::MERCER_TILES
