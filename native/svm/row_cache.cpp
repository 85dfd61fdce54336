#include "row_cache.hpp"

#include <algorithm>
#include <numeric>

namespace mercer {

template <class T>
RowCache<T>::RowCache(T* storage, Index width, Index n)
    : data(storage), capacity(n), stride(width), slot(static_cast<std::size_t>(n)) {
  std::iota(slot.begin(), slot.end(), Index(0));
}

template <class T>
RowCache<T> RowCache<T>::empty(T* storage, Index most, Index n) {
  RowCache cache(storage, n, n);
  cache.capacity = most;
  cache.slot.assign(static_cast<std::size_t>(n), -1);
  cache.row.assign(static_cast<std::size_t>(most), -1);
  cache.stamp.assign(static_cast<std::size_t>(most), 0);
  return cache;
}

template <class T>
void RowCache<T>::reserve(const std::vector<Index>& wanted, std::vector<Index>& rows,
                          std::vector<Index>& slots) {
  rows.clear();
  slots.clear();
  if (row.empty()) return;  // all rows are there
  ++now;
  for (Index i : wanted)
    if (slot[i] >= 0)
      stamp[slot[i]] = now, ++hits;
    else
      rows.push_back(i), ++misses;
  for (std::size_t k = 0; k < rows.size() && used < capacity; ++k) {
    stamp[used] = now;  // or else it would be among the oldest below
    slots.push_back(used++);
  }
  std::size_t missing = rows.size() - slots.size();
  if (missing > 0) {  // the least recently used slots are replaced
    std::vector<Index> old;
    for (Index s = 0; s < capacity; ++s)
      if (stamp[s] < now) old.push_back(s);
    auto middle = old.begin() + static_cast<std::ptrdiff_t>(missing);
    auto older = [&](Index a, Index b) { return stamp[a] != stamp[b] ? stamp[a] < stamp[b] : a < b; };
    std::nth_element(old.begin(), middle - 1, old.end(), older);
    std::sort(old.begin(), middle);
    slots.insert(slots.end(), old.begin(), middle);
  }
  for (std::size_t k = 0; k < rows.size(); ++k) {
    Index s = slots[k];
    if (row[s] >= 0) slot[row[s]] = -1;
    row[s] = rows[k];
    slot[rows[k]] = s;
    stamp[s] = now;
  }
}

template <class T>
void RowCache<T>::forget(const std::vector<Index>& slots) {
  for (Index s : slots) {
    slot[row[s]] = -1;
    row[s] = -1;
    stamp[s] = 0;
  }
}

template struct RowCache<float>;
template struct RowCache<double>;

}  // namespace mercer
