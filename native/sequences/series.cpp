#include "series.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <exception>
#include <limits>
#include <numeric>
#include <vector>

#ifdef _OPENMP
#  include <omp.h>
#endif

#include "../dispatch.hpp"
#include "../grid.hpp"

namespace mercer {
namespace {

// Vectors of cells between two looks at the clock of the caller: some hundredths of a second.
constexpr Index kCellsAtOnce = Index{1} << 21;

// Work on fewer vectors of cells is over before another thread is awake.
constexpr double kWorthThreads = 1 << 13;

// Logarithms below this stand for the logarithm of zero.
constexpr double kLeastLog = -1e299;

// Numbers that begin at a whole vector.
class AlignedNumbers {
 public:
  explicit AlignedNumbers(Index size) : numbers_(static_cast<std::size_t>(size) + kSlack) {
    auto address = reinterpret_cast<std::uintptr_t>(numbers_.data());
    first_ = numbers_.data() + (64 - address % 64) % 64 / sizeof(double);
  }
  AlignedNumbers(AlignedNumbers&&) = default;
  AlignedNumbers& operator=(AlignedNumbers&&) = default;
  double* data() { return first_; }

 private:
  static constexpr std::size_t kSlack = 8;
  std::vector<double> numbers_;
  double* first_;
};

std::vector<Index> by_length(const SeriesSet& X) {
  std::vector<Index> order(static_cast<std::size_t>(X.count));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return X.length(a) < X.length(b); });
  return order;
}

// Series side by side, those of about one length together.
class Lanes {
 public:
  Lanes(const SeriesSet& Y, const std::vector<Index>& order)
      : set_(Y), order_(order), width_(table().lanes), values_(0), gauge_(0) {
    for (Index g = 0; g < count(); ++g) {
      offsets_.push_back(total_);
      total_ += steps(g);
    }
    values_ = AlignedNumbers(total_ * width_ * Y.channels);
    gauge_ = AlignedNumbers(Y.gauge == nullptr ? 0 : total_ * width_);
    for (std::size_t q = 0; q < order_.size(); ++q) pack(static_cast<Index>(q));
  }
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  Index total() const { return total_; }  // steps of all groups
  Index count() const { return (static_cast<Index>(order_.size()) + width_ - 1) / width_; }
  Index first(Index group) const { return group * width_; }
  Index last(Index group) const { return std::min(first(group) + width_, static_cast<Index>(order_.size())); }
  Index series(Index q) const { return order_[static_cast<std::size_t>(q)]; }
  Index steps(Index group) const { return set_.length(series(last(group) - 1)); }

  LaneSeries operator[](Index group) {
    Index at = offsets_[static_cast<std::size_t>(group)] * width_;
    return {values_.data() + at * set_.channels, gauge_.data() + at, steps(group), set_.channels};
  }

 private:
  void pack(Index q) {
    Index at = offsets_[static_cast<std::size_t>(q / width_)] * width_, lane = q % width_, i = series(q);
    const double* from = set_.series(i);
    double* to = values_.data() + at * set_.channels + lane;
    for (Index k = 0; k < set_.length(i) * set_.channels; ++k) to[k * width_] = from[k];
    if (set_.gauge == nullptr) return;
    for (Index k = 0; k < set_.length(i); ++k)
      gauge_.data()[at + lane + k * width_] = set_.gauge[set_.starts[i] + k];
  }

  const SeriesSet& set_;
  const std::vector<Index>& order_;
  Index width_, total_ = 0;
  std::vector<Index> offsets_;
  AlignedNumbers values_, gauge_;
};

bool is_log(Alignment op) { return op == kLogDivisible || op == kLogGaussian; }

// Factors 1 - lag / band, or their logarithms, for all lags below the band and the longest length, and zeros
// beyond.
std::vector<double> triangle(const AlignmentTask& task, Index longest) {
  std::vector<double> weights;
  double nothing = table().alignments[task.op].nothing;
  for (Index lag = 0; lag < std::min(task.band, std::max<Index>(longest, 1)); ++lag) {
    double weight = 1.0 - static_cast<double>(lag) / static_cast<double>(task.band);
    weights.push_back(is_log(task.op) ? std::log(weight) : weight);
  }
  weights.insert(weights.end(), kRowsAtOnce, nothing);
  return weights;
}

Index width_of(const std::vector<double>& triangle) {
  return static_cast<Index>(triangle.size()) - kRowsAtOnce - 1;
}

Index steps_of(const SeriesSet& X) { return X.starts[X.count] - X.starts[0]; }

Index longest_of(const SeriesSet& X) {
  Index longest = 0;
  for (Index i = 0; i < X.count; ++i) longest = std::max(longest, X.length(i));
  return longest;
}

// Runs jobs 0 to count - 1 of `cells` vectors of cells in all, the last first, on several threads.  A job is
// job(number, row, pause) with scratch for `doubles` numbers, throws nothing, and calls pause(cells) after
// every piece of work, which says whether to go on.
template <class Job>
void run_jobs(const AlignmentTask& task, Index count, double cells, Index doubles, Job&& job) {
  std::atomic<bool> stopped{false}, exhausted{false};
  std::exception_ptr thrown;
  Index since = 0;
  int threads = static_cast<int>(std::min<Index>(task.threads, count));
  if (cells < kWorthThreads) threads = 1;
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    bool calling = true;
#ifdef _OPENMP
    calling = omp_get_thread_num() == 0;
#endif
    double* row = scratch(doubles);
    if (row == nullptr) exhausted = stopped = true;
    auto pause = [&](Index done) {
      if (calling && !stopped && (since += done) >= kCellsAtOnce) {
        since = 0;
        try {
          task.watch();
        } catch (...) {
          thrown = std::current_exception();
          stopped = true;
        }
      }
      return !stopped;
    };
#pragma omp for schedule(dynamic)
    for (Index t = 0; t < count; ++t)
      if (!stopped) job(count - 1 - t, row, pause);
  }
  if (thrown) std::rethrow_exception(thrown);
  if (exhausted) throw std::bad_alloc();
}

// Steps of x that are taken between two pauses, a whole number of kRowsAtOnce.
Index steps_at_once(Index steps) {
  return std::max<Index>(kCellsAtOnce / std::max<Index>(steps, 1) / kRowsAtOnce, 1) * kRowsAtOnce;
}

double finished(Alignment op, double value) {
  return is_log(op) && value < kLeastLog ? -std::numeric_limits<double>::infinity() : value;
}

// Pairs of a series x, by its place in the order of lengths, and a group of lanes.
struct Pairing {
  Index x, group;
};

std::vector<Pairing> pairings(Index rows, const Lanes& lanes, bool symmetric) {
  std::vector<Pairing> all;
  for (Index x = 0; x < rows; ++x)
    for (Index group = 0; group < lanes.count(); ++group)
      if (!symmetric || lanes.first(group) <= x) all.push_back({x, group});
  return all;
}

}  // namespace

void align(const AlignmentTask& task, const SeriesSet& X, const SeriesSet& Y, bool symmetric, double* out) {
  if (X.count == 0 || Y.count == 0) return;
  const AlignmentTiles& tiles = table().alignments[task.op];
  const Index width = table().lanes;
  const std::vector<Index> x_order = by_length(X), y_order = symmetric ? x_order : by_length(Y);
  Lanes lanes(Y, y_order);
  const bool banded = task.band >= 0, warping = task.op == kDtw;
  const Index longest = longest_of(Y);
  const std::vector<double> weights =
      banded && !warping ? triangle(task, std::max(longest_of(X), longest)) : std::vector<double>();
  const AlignRows advance = banded ? tiles.banded : tiles.plain;
  const std::vector<Pairing> jobs = pairings(X.count, lanes, symmetric);

  auto job = [&](Index number, double* row, auto&& pause) {
    Pairing pair = jobs[static_cast<std::size_t>(number)];
    Index i = x_order[static_cast<std::size_t>(pair.x)], n = X.length(i);
    LaneSeries y = lanes[pair.group];
    // A series of the group with the place `q` is in the lane q - first.
    Index first = lanes.first(pair.group), last = lanes.last(pair.group);
    if (symmetric) last = std::min(last, pair.x + 1);

    double widths[kMostLanes] = {};
    AlignmentRule rule{task.scale, n + y.steps, nullptr, nullptr};
    if (banded && warping) {
      rule.width = task.band;
      for (Index q = first; q < last; ++q) {
        Index own = std::max(task.band, std::abs(n - Y.length(lanes.series(q))));
        widths[q - first] = static_cast<double>(own);
        rule.width = std::max(rule.width, own);
      }
      rule.widths = widths;
    } else if (banded) {
      rule.width = width_of(weights);
      rule.weights = weights.data();
    }

    std::fill(row, row + width, tiles.start);
    std::fill(row + width, row + (y.steps + 1) * width, tiles.nothing);
    const double* x_gauge = X.gauge == nullptr ? nullptr : X.gauge + X.starts[i];
    for (Index at = 0, piece = steps_at_once(y.steps); at < n; at += piece) {
      Index end = std::min(at + piece, n);
      advance(X.series(i), x_gauge, at, end, y, rule, row);
      if (!pause((end - at) * y.steps)) return;
    }
    for (Index q = first; q < last; ++q) {
      Index j = lanes.series(q), m = Y.length(j);
      bool reached = std::abs(n - m) <= rule.width;
      double value = finished(task.op, reached ? row[m * width + q - first] : tiles.nothing);
      out[i * Y.count + j] = value;
      if (symmetric) out[j * Y.count + i] = value;
    }
  };
  double cells = static_cast<double>(steps_of(X)) * static_cast<double>(lanes.total());
  run_jobs(task, static_cast<Index>(jobs.size()), cells, (longest + 1) * width, job);
}

void gauge(const AlignmentTask& task, const SeriesSet& X, double* out, double* norms) {
  if (X.count == 0) return;
  const AlignmentTiles& tiles = table().alignments[task.op];
  const Index width = table().lanes;
  const std::vector<Index> order = by_length(X);
  Lanes lanes(X, order);
  const bool banded = task.band >= 0;
  const Index longest = longest_of(X);
  const std::vector<double> weights = banded ? triangle(task, longest) : std::vector<double>();

  auto job = [&](Index group, double* row, auto&& pause) {
    LaneSeries y = lanes[group];
    double *ratios = row + (longest + 1) * width, *sums = ratios + longest * width;
    AlignmentRule rule{task.scale, banded ? width_of(weights) : y.steps, weights.data(), nullptr};
    for (Index at = 0, piece = steps_at_once(y.steps); at < y.steps; at += piece) {
      Index end = std::min(at + piece, y.steps);
      (banded ? tiles.banded_gauge : tiles.gauge)(at, end, y, rule, ratios, sums, row);
      if (!pause((end - at) * y.steps)) return;
    }
    for (Index q = lanes.first(group); q < lanes.last(group); ++q) {
      Index i = lanes.series(q), lane = q - lanes.first(group);
      Index n = X.length(i);
      for (Index k = 0; k < n; ++k) out[X.starts[i] + k] = ratios[k * width + lane];
      norms[i] = n == 0 ? 1.0 : sums[(n - 1) * width + lane];
    }
  };
  double cells = static_cast<double>(longest) * static_cast<double>(lanes.total());
  run_jobs(task, lanes.count(), cells, (3 * longest + 1) * width, job);
}

}  // namespace mercer
