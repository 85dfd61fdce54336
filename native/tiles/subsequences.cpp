// Gap-weighted common subsequences of lengths 1..n, one pair of sequences per lane.
//
// M_k(i, j) is the sum, over common subsequences of length k that end with x_i and y_j, of decay to the
// number of symbols skipped in between; S_k(i, j) the same over all ends up to i and j, with what is skipped
// up to there:
//
//   M_1 = [x_i = y_j]     M_k(i, j) = [x_i = y_j] S_{k-1}(i-1, j-1)
//   S_k(i, j) = decay S_k(i-1, j) + R_k(i, j)     R_k(i, j) = decay R_k(i, j-1) + M_k(i, j)
//
// Wanted are the sums of M_k over all i and j.  No term is negative, so nothing cancels.
#include "tiles.hpp"
#include "wide.hpp"

namespace mercer::MERCER_TILES {
namespace {

// As many lengths as fit into registers are done in one pass over a row.
constexpr int kTogether = 4;

// One row for `count` lengths, and with `top` for the longest length of all, whose S nobody needs.  `below`
// is S of the length before the first of these, null if there is none; `state` is S of these lengths, one
// after the other; `totals` what the row adds to.
template <class N, int count, bool top>
void advance(StringLanes pairs, Vec x, Vec decay, const double* below, double* state, double* totals) {
  using Number = Numbers<N>;
  constexpr int kSums = count + top, kKept = count > 0 ? count : 1;
  const Index width = pairs.cols * Number::kSize;
  N sums[kSums], along[kKept], before[kKept], last = Number::zero();
  for (N& sum : sums) sum = Number::zero();
  for (N& a : along) a = Number::zero();
  for (N& b : before) b = Number::zero();  // S(i-1, j-1)
  for (Index j = 0; j < pairs.cols; ++j) {
    const Vec y = load(pairs.y + j * kLanes);
    const Index at = j * Number::kSize;
    if constexpr (top) {
      N ends = count > 0 ? before[kKept - 1] : below != nullptr ? last : Number::one();
      sums[count] = Number::sum(sums[count], Number::where_equal(ends, x, y));
    }
    for (int k = count - 1; k >= 0; --k) {
      N ends = k > 0 ? before[k - 1] : below != nullptr ? last : Number::one();
      ends = Number::where_equal(ends, x, y);
      sums[k] = Number::sum(sums[k], ends);
      along[k] = Number::decayed_sum(decay, along[k], ends);
      before[k] = Number::read(state + k * width + at);
      Number::write(state + k * width + at, Number::decayed_sum(decay, before[k], along[k]));
    }
    if (below != nullptr) last = Number::read(below + at);
  }
  for (int k = 0; k < kSums; ++k) {
    double* total = totals + k * Number::kSize;
    Number::write(total, Number::sum(Number::read(total), sums[k]));
  }
}

template <class N, bool top>
void advance(int count, StringLanes pairs, Vec x, Vec decay, const double* below, double* state,
             double* totals) {
  switch (count) {
    case 0:  // the longest length is 1
      if constexpr (top) advance<N, 0, top>(pairs, x, decay, below, state, totals);
      return;
    case 1:
      return advance<N, 1, top>(pairs, x, decay, below, state, totals);
    case 2:
      return advance<N, 2, top>(pairs, x, decay, below, state, totals);
    case 3:
      return advance<N, 3, top>(pairs, x, decay, below, state, totals);
    default:
      return advance<N, kTogether, top>(pairs, x, decay, below, state, totals);
  }
}

// The state: the n sums, then S_1 .. S_{n-1}.  Longer lengths go first, for they read the S of the row
// before.
template <class N>
void rows(StringLanes pairs, Index first, Index last, const SubsequenceRule& rule, double* state) {
  constexpr Index size = Numbers<N>::kSize;
  const Index width = pairs.cols * size;
  double* kept = state + rule.n * size;
  const Vec decay = splat(rule.decay);
  for (Index i = first; i < last; ++i) {
    const Vec x = load(pairs.x + i * kLanes);
    for (Index high = rule.n - 1; high > 0 || rule.n == 1; high -= kTogether) {
      const Index low = high > kTogether ? high - kTogether : 0;  // lengths low + 1 .. high
      const double* below = low > 0 ? kept + (low - 1) * width : nullptr;
      auto step = high == rule.n - 1 ? &advance<N, true> : &advance<N, false>;
      step(static_cast<int>(high - low), pairs, x, decay, below, kept + low * width, state + low * size);
      if (low == 0) break;
    }
  }
}

}  // namespace

void fill_subsequences(Table& table) {
  table.strings.lanes = kLanes;
  table.strings.subsequences = {rows<Vec>, rows<Wide>};
}

}  // namespace mercer::MERCER_TILES
