// Products of sparse rows of weights, key by key: a bucket holds the rows that have a key.
#pragma once

#include <cstdint>
#include <vector>

#include "table.hpp"

namespace mercer {

inline std::size_t as_size(Index n) { return static_cast<std::size_t>(n); }

// Gives numbers 0, 1, 2... to keys in the order in which they first come: a hash table that compares whole
// keys.
class Namer {
 public:
  // Renames the keys, none of them negative, in place; returns the number of names.
  Index rename(std::vector<Index>& keys) {
    int bits = 4;
    while ((Index{1} << bits) < 2 * static_cast<Index>(keys.size())) ++bits;
    table_.assign(std::size_t{1} << bits, {kFree, 0});
    std::size_t last = table_.size() - 1;
    Index names = 0;
    for (Index& key : keys) {
      std::size_t place = (static_cast<std::uint64_t>(key) * 0x9e3779b97f4a7c15u) >> (64 - bits);
      while (table_[place].key != key && table_[place].key != kFree) place = (place + 1) & last;
      if (table_[place].key == kFree) table_[place] = {key, names++};
      key = table_[place].name;
    }
    return names;
  }

 private:
  static constexpr Index kFree = -1;
  struct Named {
    Index key, name;
  };
  std::vector<Named> table_;
};

// Rows of weights by key, as CSR: row i has entries ends[i] .. ends[i + 1] - 1, in any order.  Without
// weights each entry counts 1; a row may have a key several times.
struct SparseRows {
  const Index* keys;
  const double* weights;
  const Index* ends;
  Index rows;

  Index size() const { return ends[rows]; }
};

// Rows with their weights by key: those of key b are entries starts[b] .. ends[b] - 1, in the order of rows.
struct Buckets {
  std::vector<std::int32_t> starts, ends, rows;
  std::vector<double> weights;

  void fill(const SparseRows& A, Index buckets) {
    starts.assign(as_size(buckets) + 1, 0);
    if (rows.size() < as_size(A.size())) {
      rows.resize(as_size(A.size()));
      weights.resize(as_size(A.size()));
    }
    for (Index e = 0; e < A.size(); ++e) ++starts[as_size(A.keys[e]) + 1];
    for (std::size_t b = 1; b < starts.size(); ++b) starts[b] += starts[b - 1];
    ends = starts;
    for (Index i = 0; i < A.rows; ++i)
      for (Index e = A.ends[i]; e < A.ends[i + 1]; ++e)
        put(as_size(A.keys[e]), static_cast<std::int32_t>(i), A.weights == nullptr ? 1.0 : A.weights[e]);
  }

 private:
  // A row that is in a bucket already is the last one there.
  void put(std::size_t bucket, std::int32_t row, double weight) {
    auto end = static_cast<std::size_t>(ends[bucket]);
    if (ends[bucket] > starts[bucket] && rows[end - 1] == row) {
      weights[end - 1] += weight;
    } else {
      rows[end] = row;
      weights[end] = weight;
      ++ends[bucket];
    }
  }
};

// So many buckets are in order however few the entries.
inline bool are_few(Index buckets, Index entries) { return buckets <= (1 << 14) || buckets <= entries; }

class BucketProduct {
 public:
  // Adds to out[i, j] the inner product of rows i of X and j of Y, all keys below `buckets`.  With
  // `symmetric` Y is X, and only j <= i is filled.
  void add(const SparseRows& X, const SparseRows& Y, bool symmetric, Index buckets, double* out) {
    x_.fill(X, buckets);
    if (!symmetric) y_.fill(Y, buckets);
    const Buckets& y = symmetric ? x_ : y_;
    for (std::size_t b = 0; b < as_size(buckets); ++b)
      for (std::int32_t p = x_.starts[b]; p < x_.ends[b]; ++p) {
        double weight = x_.weights[as_size(p)], *sums = out + x_.rows[as_size(p)] * Y.rows;
        std::int32_t end = symmetric ? p + 1 : y.ends[b];
        for (auto q = as_size(y.starts[b]); q < as_size(end); ++q) sums[y.rows[q]] += weight * y.weights[q];
      }
  }

 private:
  Buckets x_, y_;
};

}  // namespace mercer
