// Pairs of windows by the number of places in which they agree, row by row.
//
// Windows p of x and q of y agree in A_p(q) places, and the next two in
//
//   A_p+1(q + 1) = A_p(q) + [x_p+l = y_q+l] - [x_p = y_q],
//
// for all q at once.  How often A_p(q) = s is counted for each q on its own, in numbers as narrow as the
// codes: with bytes a vector holds 16 to 64 of them.  They are added up before they can overflow.
#include <algorithm>
#include <limits>

#include "tiles.hpp"

namespace mercer::MERCER_TILES {
namespace {

template <class T>
Index agree(const T* x, const T* y, Index length) {
  Index sum = 0;
  for (Index i = 0; i < length; ++i) sum += x[i] == y[i];
  return sum;
}

// Columns come in whole blocks, beyond the last window too: what is counted there is left out at the end.
template <class T>
MERCER_INLINE void count_equal(const T* agreeing, Index blocks, T s, T* counts) {
  for (Index b = 0; b < blocks; ++b, agreeing += kWindowBlock, counts += kWindowBlock)
    for (Index q = 0; q < kWindowBlock; ++q) counts[q] = static_cast<T>(counts[q] + (agreeing[q] == s));
}

template <class T>
MERCER_INLINE void next_row(const T* agreeing, Index blocks, T old_x, const T* old_y, T new_x, const T* new_y,
                            T* next) {
  for (Index b = 0; b < blocks; ++b)
    for (Index q = b * kWindowBlock; q < (b + 1) * kWindowBlock; ++q)
      next[q] = static_cast<T>(agreeing[q] + (new_y[q] == new_x) - (old_y[q] == old_x));
}

template <class T>
void flush(T* counts, Index size, Index stride, Index levels, Index* pairs) {
  for (Index s = 0; s < levels; ++s)
    for (Index q = 0; q < size; ++q) pairs[s] += counts[s * stride + q];
  std::fill(counts, counts + levels * stride, T{0});
}

template <class T>
void count_pairs(WindowsOf<T> x, WindowsOf<T> y, Index length, Index least, Index* pairs, T* work) {
  constexpr Index kMost = std::numeric_limits<T>::max();
  const Index levels = length - least + 1, blocks = (y.count + kWindowBlock - 1) / kWindowBlock;
  const Index stride = blocks * kWindowBlock;
  T *agreeing = work, *next = work + stride + 1, *counts = next + stride + 1;
  std::fill(work, counts + levels * stride, T{0});
  for (Index q = 0; q < y.count; ++q) agreeing[q] = static_cast<T>(agree(x.codes, y.codes + q, length));
  for (Index p = 0;; ++p) {
    for (Index s = 0; s < levels; ++s)
      count_equal(agreeing, blocks, static_cast<T>(least + s), counts + s * stride);
    if (p + 1 == x.count) break;
    if ((p + 1) % kMost == 0) flush(counts, y.count, stride, levels, pairs);
    next[0] = static_cast<T>(agree(x.codes + p + 1, y.codes, length));
    next_row(agreeing, blocks, x.codes[p], y.codes, x.codes[p + length], y.codes + length, next + 1);
    std::swap(agreeing, next);
  }
  flush(counts, y.count, stride, levels, pairs);
}

}  // namespace

void fill_agreements(Table& table) {
  table.strings.count_pairs_of_bytes = count_pairs<std::uint8_t>;
  table.strings.count_pairs = count_pairs<std::int32_t>;
}

}  // namespace mercer::MERCER_TILES
