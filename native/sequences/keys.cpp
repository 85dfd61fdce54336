// Windows as numbers, and how often each occurs in a sequence: sparse vectors of counts in linear time.
#include <algorithm>
#include <bit>
#include <cstdint>
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

// Counts of keys below this may be kept in a table.
constexpr Index kWidest = 1 << 20;

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

Index count_sorted(Index* keys, Index size, double* counts) {
  Index kept = 0;
  for (Index i = 0; i < size;) {
    Index key = keys[i], begin = i;
    while (i < size && keys[i] == key) ++i;
    keys[kept] = key;
    counts[kept++] = static_cast<double>(i - begin);
  }
  return kept;
}

// How often each of the keys below some width occurs; a bit says which do, so that they are found in order.
struct CountTable {
  std::vector<std::uint64_t> bits;
  std::vector<std::int32_t> counts;

  explicit CountTable(Index width)
      : bits(static_cast<std::size_t>((width + 63) / 64)), counts(static_cast<std::size_t>(width)) {}

  Index count(Index* keys, Index size, double* result) {
    for (Index i = 0; i < size; ++i) {
      auto key = static_cast<std::size_t>(keys[i]);
      bits[key / 64] |= std::uint64_t{1} << (key % 64);
      ++counts[key];
    }
    Index kept = 0;
    for (std::size_t word = 0; word < bits.size(); ++word) {
      for (std::uint64_t left = bits[word]; left != 0; left &= left - 1) {
        std::size_t key = 64 * word + static_cast<std::size_t>(std::countr_zero(left));
        keys[kept] = static_cast<Index>(key);
        result[kept++] = counts[key];
        counts[key] = 0;
      }
      bits[word] = 0;
    }
    return kept;
  }
};

// What one thread counts the keys of a row with.
struct Counter {
  CountTable table;
  std::vector<Index> other;

  // Counts in place; returns how many keys differ.  A table is worth while if most of its words are in use.
  Index operator()(Index* keys, Index size, double* counts) {
    if (static_cast<Index>(table.bits.size()) <= 4 * size && !table.bits.empty())
      return table.count(keys, size, counts);
    if (size < kShort)
      std::sort(keys, keys + size);
    else
      sort_digits(keys, size, other.data());
    return count_sorted(keys, size, counts);
  }
};
// What one thread adds up the weights of the keys of a row with.
struct Adder {
  std::vector<std::pair<Index, double>> pairs;

  // Equal keys are added from the least weight to the largest: the sum does not depend on their order.
  Index operator()(Index* keys, Index size, double* weights) {
    for (Index i = 0; i < size; ++i) pairs[static_cast<std::size_t>(i)] = {keys[i], weights[i]};
    std::sort(pairs.begin(), pairs.begin() + size);
    Index kept = 0;
    for (Index i = 0; i < size; ++i) {
      auto [key, weight] = pairs[static_cast<std::size_t>(i)];
      if (kept == 0 || keys[kept - 1] != key) {
        keys[kept] = key;
        weights[kept++] = weight;
      } else {
        weights[kept - 1] += weight;
      }
    }
    return kept;
  }
};

Index longest_row(const Index* starts, Index rows) {
  Index longest = 0;
  for (Index i = 0; i < rows; ++i) longest = std::max(longest, starts[i + 1] - starts[i]);
  return longest;
}

// Calls row(keys, size, counts) for all rows, which leaves its result at the front, then closes the gaps.
template <class Row>
Index merge_rows(Index* keys, const Index* starts, Index rows, double* counts, Index* ends, int threads,
                 const Row& row) {
  threads = worth(threads, 8.0 * static_cast<double>(starts[rows] - starts[0]));
  std::vector<Row> own(static_cast<std::size_t>(threads), row);
  ends[0] = 0;
#pragma omp parallel for schedule(dynamic, 8) num_threads(threads) if (threads > 1)
  for (Index i = 0; i < rows; ++i)
    ends[i + 1] = own[static_cast<std::size_t>(thread_number())](keys + starts[i], starts[i + 1] - starts[i],
                                                                 counts + starts[i]);
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

Index count_keys(Index* keys, const Index* starts, Index rows, Index width, double* counts, Index* ends,
                 int threads) {
  Index longest = longest_row(starts, rows);
  Counter counter{CountTable(width <= kWidest ? width : 0),
                  std::vector<Index>(static_cast<std::size_t>(longest < kShort ? 0 : longest))};
  return merge_rows(keys, starts, rows, counts, ends, threads, counter);
}

Index sum_keys(Index* keys, const Index* starts, Index rows, double* counts, Index* ends, int threads) {
  Adder adder{std::vector<std::pair<Index, double>>(static_cast<std::size_t>(longest_row(starts, rows)))};
  return merge_rows(keys, starts, rows, counts, ends, threads, adder);
}

}  // namespace mercer
