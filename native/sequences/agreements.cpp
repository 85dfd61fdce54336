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
// sum_over_agreements goes through all pairs of windows, diagonal by diagonal; a pair takes the same time
// whatever the length of the windows, so that it is the better way for few short rows or very many patterns.
#include <algorithm>
#include <vector>

#include "buckets.hpp"
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

// Adds to `pairs` how many pairs of windows of two runs agree in 0, 1, 2... places.
void count_diagonals(const std::int32_t* x, Index x_windows, const std::int32_t* y, Index y_windows,
                     Index length, std::vector<Index>& pairs) {
  for (Index d = 1 - x_windows; d < y_windows; ++d) {
    Index p = std::max(Index{0}, -d), q = p + d;
    Index size = std::min(x_windows - p, y_windows - q), agree = 0;
    for (Index i = 0; i < length; ++i) agree += x[p + i] == y[q + i];
    for (Index t = 0;; ++t) {
      ++pairs[as_size(agree)];
      if (t + 1 == size) break;
      agree += (x[p + t + length] == y[q + t + length]) - (x[p + t] == y[q + t]);
    }
  }
}

double agreement_value(const Runs& X, Index i, const Runs& Y, Index j, Index length, const double* values,
                       std::vector<Index>& pairs) {
  std::fill(pairs.begin(), pairs.end(), Index{0});
  for (Index a = X.first[i]; a < X.first[i + 1]; ++a)
    for (Index b = Y.first[j]; b < Y.first[j + 1]; ++b)
      count_diagonals(X.codes + X.begins[a], X.counts[a], Y.codes + Y.begins[b], Y.counts[b], length, pairs);
  double sum = 0.0;
  for (std::size_t s = 0; s < pairs.size(); ++s)  // a value may be infinite
    if (pairs[s] != 0) sum += static_cast<double>(pairs[s]) * values[s];
  return sum;
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

void sum_over_agreements(const Runs& X, const Runs& Y, bool symmetric, Index length, const double* values,
                         double* out, int threads) {
  threads =
      worth(threads, static_cast<double>(X.windows(0, X.rows)) * static_cast<double>(Y.windows(0, Y.rows)));
  std::vector<std::vector<Index>> pairs(static_cast<std::size_t>(threads),
                                        std::vector<Index>(as_size(length) + 1));
#pragma omp parallel for schedule(static, 1) num_threads(threads) if (threads > 1)
  for (int t = 0; t < threads; ++t)
    for (Index i = t; i < X.rows; i += threads)
      for (Index j = 0; j < (symmetric ? i + 1 : Y.rows); ++j)
        out[i * Y.rows + j] += agreement_value(X, i, Y, j, length, values, pairs[as_size(t)]);
}

}  // namespace mercer
