// Windows of encoded sequences: what kernels that compare stretches of n letters share.
#pragma once

#include <cstdint>

#include "buckets.hpp"
#include "table.hpp"

namespace mercer {

// Windows that follow each other come as runs: run r holds `counts[r]` windows, the first of which begins at
// codes[begins[r]] and each of the others one letter later; none is empty.  Runs are in the order of the
// sequences (rows) that they belong to: those of row i are first[i] .. first[i + 1] - 1.
struct Runs {
  const std::int32_t* codes;
  const Index* begins;
  const Index* counts;
  const Index* first;
  Index rows;

  Index windows(Index first_row, Index last_row) const {
    Index sum = 0;
    for (Index r = first[first_row]; r < first[last_row]; ++r) sum += counts[r];
    return sum;
  }
};

// How many of the threads are worth waking for this number of elementary operations.
inline int worth(int threads, double operations) {
  constexpr double kWorthAThread = 1 << 17;
  double most = operations / kWorthAThread;
  return most >= threads ? threads : most < 1.0 ? 1 : static_cast<int>(most);
}

// The letters of every window at some offsets, as one number in base `base`: a key.  The caller sees to it
// that base^length fits.
void window_keys(const Runs& runs, const Index* offsets, Index length, Index base, Index* keys);

// Sorts the keys of every row, keys[starts[i]] .. keys[starts[i + 1] - 1], and merges equal ones, each with
// its number of occurrences.  Returns how many are left; those of row i are from ends[i] to ends[i + 1] then.
Index count_keys(Index* keys, const Index* starts, Index rows, Index width, double* counts, Index* ends,
                 int threads);

// The same with weights in place of ones: `counts` holds them before, and their sums after.
Index sum_keys(Index* keys, const Index* starts, Index rows, double* counts, Index* ends, int threads);

// Adds to out[i, j] the inner product of rows i of X and j of Y, whose keys are below `width`.  With
// `symmetric` Y is X, and only j <= i is filled.  The order of summation depends on all rows: it is exact for
// whole numbers.
void sparse_product(const SparseRows& X, const SparseRows& Y, bool symmetric, Index width, double* out);

// Adds to out[i, j] the number of pairs of windows, of row i of X and row j of Y, that agree at the offsets
// of a pattern, summed over `patterns` patterns of `length` offsets each.  With `symmetric` Y is X, and only
// j <= i is filled.  All letters are below `base`.
void count_agreements(const Runs& X, const Runs& Y, bool symmetric, const Index* offsets, Index patterns,
                      Index length, Index base, double* out, int threads);

// Adds to out[i, j] the values[s] of all pairs of windows of `length` letters, where s is the number of
// places in which the two agree.  With `symmetric` only j <= i is filled.  All letters are below `base`.
void sum_over_agreements(const Runs& X, const Runs& Y, bool symmetric, Index length, Index base,
                         const double* values, double* out, int threads);

// Windows as numbers, each letter in bits of its own: those of row i are keys[starts[i]] .. keys[starts[i +
// 1] - 1].
struct Keys {
  const std::int32_t* keys;
  const Index* starts;
  Index rows;
};

// A window a has the neighbours a ^ masks[r], which count values[r]; all are below `cells`.
struct Neighbours {
  const std::int32_t* masks;
  const double* values;
  Index count, cells;
};

// Adds to out[i, j] the values of all pairs of a window of row i of X and a neighbour of it in row j of Y,
// for the rows first <= i < last.  With `symmetric` Y is X, and only j <= i is filled.
void sum_over_neighbours(const Keys& X, const Keys& Y, bool symmetric, Index first, Index last,
                         const Neighbours& near, double* out, int threads);

}  // namespace mercer
