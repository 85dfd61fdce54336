// Windows as numbers, and how often each occurs in a sequence: sparse vectors of counts in linear time.
#include <algorithm>
#include <utility>
#include <vector>

#include "windows.hpp"

#ifdef _OPENMP
#  include <omp.h>
#endif

namespace mercer {
namespace {

// Windows at a time, so that their keys stay in the nearest cache while the letters are added.
constexpr Index kStretch = 1024;

// Rows of fewer keys are sorted by comparisons, longer ones digit by digit.
constexpr Index kShort = 1024;
constexpr int kDigit = 11;

int thread_number() {
#ifdef _OPENMP
  return omp_get_thread_num();
#else
  return 0;
#endif
}

// Sorts in time linear in the number of keys, all >= 0; `other` has room for as many.
void sort_digits(Index* keys, Index size, Index* other) {
  Index most = *std::max_element(keys, keys + size);
  Index *from = keys, *to = other;
  for (int shift = 0; shift < 63 && most >> shift; shift += kDigit) {
    Index places[(1 << kDigit) + 1] = {};
    auto digit = [shift](Index key) { return (key >> shift) & ((1 << kDigit) - 1); };
    for (Index i = 0; i < size; ++i) ++places[digit(from[i]) + 1];
    for (int d = 1; d <= 1 << kDigit; ++d) places[d] += places[d - 1];
    for (Index i = 0; i < size; ++i) to[places[digit(from[i])]++] = from[i];
    std::swap(from, to);
  }
  if (from != keys) std::copy(from, from + size, keys);
}

// Counts the keys of one row in place; returns how many differ.
Index count_row(Index* keys, Index size, double* counts, Index* other) {
  if (size < kShort)
    std::sort(keys, keys + size);
  else
    sort_digits(keys, size, other);
  Index kept = 0;
  for (Index i = 0; i < size;) {
    Index key = keys[i], begin = i;
    while (i < size && keys[i] == key) ++i;
    keys[kept] = key;
    counts[kept++] = static_cast<double>(i - begin);
  }
  return kept;
}

// The weights of equal keys are added from the least to the largest: the sum does not depend on their order.
Index sum_row(Index* keys, Index size, double* weights, std::pair<Index, double>* pairs) {
  for (Index i = 0; i < size; ++i) pairs[i] = {keys[i], weights[i]};
  std::sort(pairs, pairs + size);
  Index kept = 0;
  for (Index i = 0; i < size; ++i) {
    if (kept == 0 || keys[kept - 1] != pairs[i].first) {
      keys[kept] = pairs[i].first;
      weights[kept++] = pairs[i].second;
    } else {
      weights[kept - 1] += pairs[i].second;
    }
  }
  return kept;
}

// Calls row(keys, size, counts, scratch) for all rows, which leaves its result at the front, then closes the
// gaps.
template <class Item, class Row>
Index merge_rows(Index* keys, const Index* starts, Index rows, double* counts, Index* ends, int threads,
                 Row row) {
  Index longest = 0;
  for (Index i = 0; i < rows; ++i) longest = std::max(longest, starts[i + 1] - starts[i]);
  std::vector<std::vector<Item>> scratch(static_cast<std::size_t>(threads));
  for (auto& own : scratch) own.resize(static_cast<std::size_t>(longest));
  ends[0] = 0;
#pragma omp parallel for schedule(dynamic, 8) num_threads(threads) if (threads > 1)
  for (Index i = 0; i < rows; ++i)
    ends[i + 1] = row(keys + starts[i], starts[i + 1] - starts[i], counts + starts[i],
                      scratch[static_cast<std::size_t>(thread_number())].data());
  for (Index i = 0; i < rows; ++i) {
    std::copy_n(keys + starts[i], ends[i + 1], keys + ends[i]);
    std::copy_n(counts + starts[i], ends[i + 1], counts + ends[i]);
    ends[i + 1] += ends[i];
  }
  return ends[rows];
}

}  // namespace

void window_keys(const Runs& runs, const Index* offsets, Index length, Index base, Index* keys) {
  for (Index r = 0; r < runs.first[runs.rows]; ++r)
    for (Index done = 0; done < runs.counts[r]; done += kStretch) {
      Index size = std::min(kStretch, runs.counts[r] - done);
      std::fill_n(keys, size, Index{0});
      for (Index k = 0; k < length; ++k) {
        const std::int32_t* letters = runs.codes + runs.begins[r] + done + offsets[k];
        for (Index w = 0; w < size; ++w) keys[w] = keys[w] * base + letters[w];
      }
      keys += size;
    }
}

Index count_keys(Index* keys, const Index* starts, Index rows, double* counts, Index* ends, int threads) {
  return merge_rows<Index>(keys, starts, rows, counts, ends, threads, count_row);
}

Index sum_keys(Index* keys, const Index* starts, Index rows, double* counts, Index* ends, int threads) {
  return merge_rows<std::pair<Index, double>>(keys, starts, rows, counts, ends, threads, sum_row);
}

}  // namespace mercer
