// Rows of a symmetric matrix in memory: all of them, or the most recently used (LRU).
#pragma once

#include <vector>

#include "table.hpp"

namespace mercer {

// Row i is row slot[i] of `data`, `stride` numbers from row to row.
template <class T>
struct RowCache {
  T* data;
  Index capacity, stride;
  std::vector<Index> slot;   // of row i, or -1
  std::vector<Index> row;    // in a slot, or -1; none if all rows are there from the start
  std::vector<Index> stamp;  // when a slot was last used
  Index now = 0, used = 0, hits = 0, misses = 0;

  // Empty, with memory for `capacity` rows of n numbers.
  static RowCache empty(T* data, Index capacity, Index n);
  // All n rows are there.
  RowCache(T* data, Index stride, Index n);

  // Gives every wanted row a slot; lists those that have to be computed.
  void reserve(const std::vector<Index>& wanted, std::vector<Index>& rows, std::vector<Index>& slots);
  // Takes back slots that were not filled.
  void forget(const std::vector<Index>& slots);
  const T* operator[](Index i) const { return data + slot[i] * stride; }
};

}  // namespace mercer
