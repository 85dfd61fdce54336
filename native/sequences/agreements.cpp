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

#include "windows.hpp"

namespace mercer {
namespace {

// Keys below this (or below the number of windows, if larger) are buckets themselves; others are named first.
constexpr Index kBuckets = 1 << 14;

std::size_t as_size(Index n) { return static_cast<std::size_t>(n); }

// Gives numbers 0, 1, 2... to keys in the order in which they first come: a hash table that compares whole
// keys.
class Namer {
 public:
  // Renames the keys in place; returns the number of names.
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
  static constexpr Index kFree = -1;  // keys are not negative
  struct Named {
    Index key, name;
  };
  std::vector<Named> table_;
};

// The number of the row of every window.
std::vector<std::int32_t> rows_of_windows(const Runs& runs) {
  std::vector<std::int32_t> rows(as_size(runs.windows(0, runs.rows)));
  auto next = rows.begin();
  for (Index i = 0; i < runs.rows; ++i)
    next = std::fill_n(next, runs.windows(i, i + 1), static_cast<std::int32_t>(i));
  return rows;
}

// Rows with their numbers of windows, by key: those of key b are entries starts[b] .. ends[b] - 1.
struct Buckets {
  std::vector<Index> starts, ends;
  std::vector<std::int32_t> rows;
  std::vector<double> counts;

  // Windows come in the order of their rows, so that a row that is in a bucket already is its last one.
  void fill(const Index* keys, const std::vector<std::int32_t>& row_of, Index buckets) {
    starts.assign(as_size(buckets) + 1, 0);
    rows.resize(row_of.size());
    counts.resize(row_of.size());
    for (std::size_t w = 0; w < row_of.size(); ++w) ++starts[as_size(keys[w]) + 1];
    for (std::size_t b = 1; b < starts.size(); ++b) starts[b] += starts[b - 1];
    ends = starts;
    for (std::size_t w = 0; w < row_of.size(); ++w) {
      auto b = as_size(keys[w]);
      auto end = as_size(ends[b]);
      if (ends[b] > starts[b] && rows[end - 1] == row_of[w]) {
        counts[end - 1] += 1.0;
      } else {
        rows[end] = row_of[w];
        counts[end] = 1.0;
        ++ends[b];
      }
    }
  }
};

// One thread's share of the patterns.
class Agreements {
 public:
  Agreements(const Runs& X, const Runs& Y, bool symmetric, Index base, double* out)
      : X_(X), Y_(Y), symmetric_(symmetric), base_(base), out_(out), x_rows_(rows_of_windows(X)) {
    if (!symmetric) y_rows_ = rows_of_windows(Y);
    keys_.resize(x_rows_.size() + y_rows_.size());
    part_.resize(keys_.size());
  }

  void add(const Index* offsets, Index length) {
    Index buckets = make_keys(offsets, length);
    x_.fill(keys_.data(), x_rows_, buckets);
    if (symmetric_)
      add_square(buckets);
    else
      add_rectangle(buckets);
  }

 private:
  void keys_of(const Index* offsets, Index length, std::vector<Index>& keys) const {
    window_keys(X_, offsets, length, base_, keys.data());
    if (!symmetric_) window_keys(Y_, offsets, length, base_, keys.data() + x_rows_.size());
  }

  // Keys of the windows of both, small enough to be numbers of buckets; returns how many buckets there are.
  // As many letters as fit into a number are taken at a time, and renamed before the next are added.
  Index make_keys(const Index* offsets, Index length) {
    constexpr Index kMost = Index{1} << 62;
    Index limit = std::max(kBuckets, static_cast<Index>(keys_.size())), bound = 1;
    std::fill(keys_.begin(), keys_.end(), Index{0});
    for (Index done = 0; done < length;) {
      if (bound > kMost / base_) bound = namer_.rename(keys_);
      Index room = kMost / bound, factor = 1, taken = 0;
      while (done + taken < length && factor <= room / base_) factor *= base_, ++taken;
      keys_of(offsets + done, taken, part_);
      for (std::size_t w = 0; w < keys_.size(); ++w) keys_[w] = keys_[w] * factor + part_[w];
      bound *= factor;
      done += taken;
    }
    return bound <= limit ? bound : namer_.rename(keys_);
  }

  void add_square(Index buckets) {
    for (std::size_t b = 0; b < as_size(buckets); ++b)
      for (auto p = as_size(x_.starts[b]), begin = p; p < as_size(x_.ends[b]); ++p)
        add_row(x_.rows[p], x_.counts[p], x_, begin, p + 1);
  }

  void add_rectangle(Index buckets) {
    y_.fill(keys_.data() + x_rows_.size(), y_rows_, buckets);
    for (std::size_t b = 0; b < as_size(buckets); ++b)
      for (auto p = as_size(x_.starts[b]); p < as_size(x_.ends[b]); ++p)
        add_row(x_.rows[p], x_.counts[p], y_, as_size(y_.starts[b]), as_size(y_.ends[b]));
  }

  void add_row(Index row, double count, const Buckets& others, std::size_t begin, std::size_t end) {
    double* sums = out_ + row * Y_.rows;
    for (std::size_t q = begin; q < end; ++q) sums[others.rows[q]] += count * others.counts[q];
  }

  const Runs &X_, &Y_;
  bool symmetric_;
  Index base_;
  double* out_;
  std::vector<std::int32_t> x_rows_, y_rows_;
  std::vector<Index> keys_, part_;
  Buckets x_, y_;
  Namer namer_;
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
  for (std::size_t s = 0; s < pairs.size(); ++s) sum += static_cast<double>(pairs[s]) * values[s];
  return sum;
}

}  // namespace

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
