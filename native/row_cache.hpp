// Rows of a symmetric matrix that are kept: all of them, or as many as there is room for, those last used.
#pragma once

#include <vector>

#include "table.hpp"

namespace mercer {

// Rows of K as the cache has them: row slot[i] of `data`, `stride` numbers from row to row.
template <class T>
struct RowCache {
  T* data;
  Index capacity, stride;
  std::vector<Index> slot;   // of row i, or -1
  std::vector<Index> row;    // in a slot, or -1
  std::vector<Index> stamp;  // when a slot was last used
  Index now = 0, used = 0, hits = 0, misses = 0;

  // Empty.
  RowCache(T* data, Index capacity, Index n);
  // Complete: the rows index[0 .. n - 1], or all if there is no index.
  RowCache(T* data, Index stride, const Index* index, Index n);

  // Gives every wanted row a slot; lists those that have to be computed.
  void reserve(const std::vector<Index>& wanted, std::vector<Index>& rows, std::vector<Index>& slots);
  // Takes back slots that were not filled.
  void forget(const std::vector<Index>& slots);
  const T* operator[](Index i) const { return data + slot[i] * stride; }
};

}  // namespace mercer
