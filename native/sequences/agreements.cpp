// Sums over all pairs of windows of a function of the places in which two windows agree.
//
// count_agreements sorts the windows of all rows into buckets by their letters at the offsets of one pattern
// after the other; a bucket adds the product of its counts to every pair of rows in it:
//
//   offsets {0, 2}      ACG  row 0          bucket A.G:  rows 0 (twice), 4        out[0, 0] += 4
//                       ATG  row 0   -->    bucket C.T:  row 1                    out[4, 0] += 2 ...
//                       CCT  row 1 ...
//
// It takes time linear in the letters for each pattern, and the pairs of rows that meet in a bucket.
// sum_over_neighbours adds the values of a row's windows up in a table of all words over a small alphabet,
// and looks the windows of the other rows up in it: time linear in the pairs of a row and a window.
// sum_over_agreements goes through all pairs of windows; a pair takes the same time whatever their length, so
// that it is the better way for few short rows or very many patterns.
#include <algorithm>
#include <limits>
#include <vector>

#include "../dispatch.hpp"
#include "buckets.hpp"
#include "rows.hpp"
#include "windows.hpp"

namespace mercer {
namespace {

// Number of windows before each row, and in all.
std::vector<Index> ends_of(const Runs& runs) {
  std::vector<Index> ends{0};
  for (Index i = 0; i < runs.rows; ++i) ends.push_back(ends.back() + runs.windows(i, i + 1));
  return ends;
}

// One thread's share of the patterns.
class Agreements {
 public:
  Agreements(const Runs& X, const Runs& Y, bool symmetric, Index base, double* out)
      : X_(X),
        Y_(Y),
        symmetric_(symmetric),
        base_(base),
        out_(out),
        x_ends_(ends_of(X)),
        y_ends_(ends_of(Y)) {
    keys_.resize(as_size(x_ends_.back() + (symmetric ? 0 : y_ends_.back())));
    part_.resize(keys_.size());
  }

  void add(const Index* offsets, Index length) {
    if (keys_.empty()) return;
    Index buckets = make_keys(offsets, length);
    if (!are_few(buckets, static_cast<Index>(keys_.size()))) buckets = namer_.rename(keys_);
    SparseRows x{keys_.data(), nullptr, x_ends_.data(), X_.rows};
    SparseRows y{keys_.data() + x_ends_.back(), nullptr, y_ends_.data(), Y_.rows};
    product_.add(x, symmetric_ ? x : y, symmetric_, buckets, out_);
  }

 private:
  // Keys of the windows of X, then of Y; returns a number that they are below.  As many letters as fit into a
  // number are taken at a time, and renamed before the next are added.
  Index make_keys(const Index* offsets, Index length) {
    constexpr Index kMost = Index{1} << 62;
    std::fill(keys_.begin(), keys_.end(), Index{0});
    Index bound = 1;
    for (Index done = 0; done < length;) {
      if (bound > kMost / base_) bound = namer_.rename(keys_);
      Index factor = 1, taken = 0;
      while (done + taken < length && factor <= kMost / bound / base_) factor *= base_, ++taken;
      keys_of(offsets + done, taken);
      for (std::size_t w = 0; w < keys_.size(); ++w) keys_[w] = keys_[w] * factor + part_[w];
      bound *= factor;
      done += taken;
    }
    return bound;
  }

  void keys_of(const Index* offsets, Index length) {
    window_keys(X_, offsets, length, base_, part_.data());
    if (!symmetric_) window_keys(Y_, offsets, length, base_, part_.data() + x_ends_.back());
  }

  const Runs &X_, &Y_;
  bool symmetric_;
  Index base_;
  double* out_;
  std::vector<Index> x_ends_, y_ends_, keys_, part_;
  Namer namer_;
  BucketProduct product_;
};

// Windows of y that are compared at a time: their counts stay in the cache.
constexpr Index kColumns = 2048;

template <class T>
CountPairs<T> count_pairs();
template <>
CountPairs<std::uint8_t> count_pairs<std::uint8_t>() {
  return table().strings.count_pairs_of_bytes;
}
template <>
CountPairs<std::int32_t> count_pairs<std::int32_t>() {
  return table().strings.count_pairs;
}

// The codes that runs of windows of `length` letters read, as narrow numbers.
template <class T>
std::vector<T> narrowed(const Runs& runs, Index length) {
  Index end = 0;
  for (Index r = 0; r < runs.first[runs.rows]; ++r)
    end = std::max(end, runs.begins[r] + runs.counts[r] + length - 1);
  std::vector<T> codes(runs.codes, runs.codes + end);
  codes.resize(codes.size() + kWindowBlock);
  return codes;
}

// Sums over all pairs of windows, one pair of rows after the other.
template <class T>
class PairSums {
 public:
  PairSums(const Runs& X, const Runs& Y, Index length, const double* values)
      : X_(X),
        Y_(Y),
        length_(length),
        values_(values),
        x_(narrowed<T>(X, length)),
        y_(narrowed<T>(Y, length)) {
    while (least_ <= length && values[least_] == 0.0) ++least_;
  }

  struct Scratch {
    std::vector<T> work;
    std::vector<Index> pairs;
  };

  double value(Index i, Index j, Scratch& scratch) const {
    if (least_ > length_) return 0.0;
    const Index levels = length_ - least_ + 1;
    scratch.work.resize(as_size((levels + 2) * (kColumns + kWindowBlock)));
    scratch.pairs.assign(as_size(levels), 0);
    for (Index a = X_.first[i]; a < X_.first[i + 1]; ++a)
      for (Index b = Y_.first[j]; b < Y_.first[j + 1]; ++b)
        for (Index q = 0; q < Y_.counts[b]; q += kColumns)
          count_pairs<T>()({x_.data() + X_.begins[a], X_.counts[a]},
                           {y_.data() + Y_.begins[b] + q, std::min(kColumns, Y_.counts[b] - q)}, length_,
                           least_, scratch.pairs.data(), scratch.work.data());
    double sum = 0.0;
    for (Index s = 0; s < levels; ++s)  // a value may be infinite
      if (scratch.pairs[as_size(s)] != 0)
        sum += static_cast<double>(scratch.pairs[as_size(s)]) * values_[least_ + s];
    return sum;
  }

 private:
  const Runs &X_, &Y_;
  Index length_, least_ = 0;
  const double* values_;
  std::vector<T> x_, y_;
};

template <class T>
void sum_pairs(const Runs& X, const Runs& Y, bool symmetric, Index length, const double* values, double* out,
               int threads) {
  const PairSums<T> sums(X, Y, length, values);
  for_each_row<typename PairSums<T>::Scratch>(X.rows, threads, [&](Index i, auto& scratch) {
    for (Index j = 0; j < (symmetric ? i + 1 : Y.rows); ++j) out[i * Y.rows + j] += sums.value(i, j, scratch);
  });
}

}  // namespace

void sparse_product(const SparseRows& X, const SparseRows& Y, bool symmetric, Index width, double* out) {
  BucketProduct product;
  Index entries = X.size() + (symmetric ? 0 : Y.size());
  if (are_few(width, entries)) return product.add(X, Y, symmetric, width, out);
  std::vector<Index> keys(X.keys, X.keys + X.size());
  if (!symmetric) keys.insert(keys.end(), Y.keys, Y.keys + Y.size());
  Index names = Namer().rename(keys);
  SparseRows x{keys.data(), X.weights, X.ends, X.rows}, y{keys.data() + X.size(), Y.weights, Y.ends, Y.rows};
  product.add(x, symmetric ? x : y, symmetric, names, out);
}

void count_agreements(const Runs& X, const Runs& Y, bool symmetric, const Index* offsets, Index patterns,
                      Index length, Index base, double* out, int threads) {
  Index windows = X.windows(0, X.rows) + Y.windows(0, Y.rows);
  threads = worth(threads, 8.0 * static_cast<double>(windows) * static_cast<double>(patterns));
  threads = static_cast<int>(std::min<Index>(threads, patterns));
  // Counts are whole numbers: they can be added up thread by thread, and it does not matter in which order.
  std::vector<std::vector<double>> sums;
  std::vector<Agreements> shares;
  for (int t = 0; t < threads; ++t) {
    if (t > 0) sums.emplace_back(as_size(X.rows * Y.rows), 0.0);
    shares.emplace_back(X, Y, symmetric, base, t > 0 ? sums.back().data() : out);
  }
  bool failed = false;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1) reduction(|| : failed)
  for (int t = 0; t < threads; ++t) {
    try {
      for (Index s = t; s < patterns; s += threads) shares[as_size(t)].add(offsets + s * length, length);
    } catch (const std::bad_alloc&) {  // must not leave the thread
      failed = true;
    }
  }
  if (failed) throw std::bad_alloc();
  for (const std::vector<double>& more : sums)
    for (std::size_t p = 0; p < more.size(); ++p) out[p] += more[p];
}

void sum_over_agreements(const Runs& X, const Runs& Y, bool symmetric, Index length, Index base,
                         const double* values, double* out, int threads) {
  threads =
      worth(threads, static_cast<double>(X.windows(0, X.rows)) * static_cast<double>(Y.windows(0, Y.rows)));
  if (std::max(base - 1, length) <= std::numeric_limits<std::uint8_t>::max())
    return sum_pairs<std::uint8_t>(X, Y, symmetric, length, values, out, threads);
  sum_pairs<std::int32_t>(X, Y, symmetric, length, values, out, threads);
}

void sum_over_neighbours(const Keys& X, const Keys& Y, bool symmetric, Index first, Index last,
                         const Neighbours& near, double* out, int threads) {
  for_each_row<std::vector<double>>(last - first, threads, [&](Index row, std::vector<double>& scores) {
    const Index i = first + row;
    scores.assign(as_size(near.cells), 0.0);
    for (Index a = X.starts[i]; a < X.starts[i + 1]; ++a)
      for (Index r = 0; r < near.count; ++r) scores[as_size(X.keys[a] ^ near.masks[r])] += near.values[r];
    for (Index j = 0; j < (symmetric ? i + 1 : Y.rows); ++j) {
      constexpr Index kSums = 4;  // chains of additions, so that none waits for the last
      double sums[kSums] = {0.0, 0.0, 0.0, 0.0};
      for (Index b = Y.starts[j]; b < Y.starts[j + 1]; ++b)
        sums[(b - Y.starts[j]) % kSums] += scores[as_size(Y.keys[b])];
      out[i * Y.rows + j] += (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
  });
}

}  // namespace mercer
