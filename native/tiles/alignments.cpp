// Recursions over the alignments of two series: one x against as many y as a vector has lanes.
//
// A cell (i, j) follows from its neighbours (i-1, j-1), (i-1, j), (i, j-1) and the squared distance of step i
// of x and step j of y.  Some rows are computed at once, column by column: the cells of one column follow
// from each other, but those of the next begin before they are done, so that the processor always has several
// to work on.  Each operation treats x and y alike, so that the pairs (x, y) and (y, x) agree to the last
// bit.
#include "functions.hpp"
#include "tiles.hpp"

namespace mercer::MERCER_TILES {
namespace {

// Similarities are no less than exp of minus this; what that adds does not count.
constexpr double kMostExponent = 690.0;

// Stands for the logarithm of zero in sums of logarithms: differences of two of them are numbers.
constexpr double kLogZero = -1e300;

// exp(-scale D) for squared distances D, as 2^(-binary D).
struct Scale {
  explicit Scale(double scale)
      : plain(splat(-scale)), binary(scale * 0x1.71547652b82fep0), most(splat(kMostExponent / scale)) {}
  Vec plain;
  double binary;
  Vec most;  // larger D count as this
};

// The least sum of squared distances along an alignment.
struct Warping {
  static constexpr double start = 0.0, nothing = kInfinity;
  static constexpr bool gauged = false;

  static MERCER_INLINE Vec local(Vec squares, const Scale&, Vec) { return squares; }
  static MERCER_INLINE Vec within(Vec cost, double lag, Vec widths) {
    return splat(lag) <= widths ? cost : splat(kInfinity);
  }
  static MERCER_INLINE Vec join(Vec cost, Vec before, Vec up, Vec left) {
    return cost + smaller(smaller(up, left), before);
  }
};

// The sum over alignments of products of local similarities, divided in each cell (i, j) by a_i b_j, where
// a_i^2 is about the sum over alignments of the first i steps of x with themselves, and b_j likewise for y.
// They are powers of two, so that all divisions are exact, and change only with the first of every
// kRowsAtOnce steps.  Where the sum is a positive definite kernel, no cell exceeds some thousands, and what a
// cell adds to the last one is no more than some thousand times the cell, so that cells may underflow.
struct Summing {
  static constexpr double start = 1.0, nothing = 0.0;
  static constexpr bool gauged = true;

  static MERCER_INLINE Vec within(Vec similarity, double, Vec) { return similarity; }
  static MERCER_INLINE Vec join(Vec similarity, Vec before, Vec up, Vec left) {
    return similarity * ((up + left) + before);
  }
};
struct SummingGaussian : Summing {
  static MERCER_INLINE Vec local(Vec squares, const Scale& scale, Vec weight) {
    return weight * reciprocal_of(power_less(smaller(squares, scale.most), scale.binary, 1.0, Vec{}));
  }
};
struct SummingDivisible : Summing {
  static MERCER_INLINE Vec local(Vec squares, const Scale& scale, Vec weight) {  // w G / (2 - w G)
    return weight * reciprocal_of(power_less(smaller(squares, scale.most), scale.binary, 2.0, weight));
  }
};

// The logarithm of the sum.
struct SummingLogs {
  static constexpr double start = 0.0, nothing = kLogZero;
  static constexpr bool gauged = false;

  static MERCER_INLINE Vec within(Vec similarity, double, Vec) { return similarity; }
  static MERCER_INLINE Vec join(Vec similarity, Vec before, Vec up, Vec left) {
    Vec high = larger(up, left), least = smaller(up, left);
    Vec most = larger(high, before), middle = smaller(high, before);
    Vec sum = 1.0 + (exponential(middle - most) + exponential(least - most));
    return similarity + (most + logarithm(sum));
  }
};
struct SummingLogsGaussian : SummingLogs {
  static MERCER_INLINE Vec local(Vec squares, const Scale& scale, Vec weight) {
    return larger(weight + scale.plain * squares, splat(kLogZero));
  }
};
struct SummingLogsDivisible : SummingLogs {
  static MERCER_INLINE Vec local(Vec squares, const Scale& scale, Vec weight) {
    Vec g = SummingLogsGaussian::local(squares, scale, weight);
    return g - logarithm(2.0 - exponential(g));
  }
};

MERCER_INLINE Vec square(Vec a) { return a * a; }

MERCER_INLINE Index lag_of(Index i, Index j) { return i < j ? j - i : i - j; }
MERCER_INLINE Index at_least_one(Index a) { return a < 1 ? 1 : a; }
MERCER_INLINE Index least(Index a, Index b) { return a < b ? a : b; }

// Steps are numbered from 1 here, as the cells are: cell 0 stands before the first step.
template <class Model, bool kBanded, bool kSingle, int kRowCount>
void align_block(const double* x, const double* x_gauge, Index first, const LaneSeries& y,
                 const AlignmentRule& rule, double* row) {
  const Index channels = y.channels;
  const Scale scale(rule.scale);
  const Vec neutral = splat(Model::gauged ? 1.0 : 0.0);  // a weight that changes nothing
  const Vec widths = kBanded && rule.widths != nullptr ? load(rule.widths) : Vec{};
  const Vec by_x = splat(Model::gauged ? x_gauge[first] : 1.0);
  Vec left[kRowCount], steps[kRowCount];
  for (int r = 0; r < kRowCount; ++r) {
    left[r] = splat(Model::nothing);
    steps[r] = kSingle ? splat(x[first + r]) : Vec{};
  }
  // Cells of the row above, in the gauge of these rows.
  auto above = [&](Index j) {
    return Model::gauged ? by_x * load(row + j * kLanes) : load(row + j * kLanes);
  };
  Index low = kBanded ? at_least_one(first + 1 - rule.width) : 1;
  Index high = kBanded ? least(y.steps, first + kRowCount + rule.width) : y.steps;
  Vec corner = above(least(low, high + 1) - 1);  // the band may have left y behind
  store(row, splat(Model::nothing));             // the cell (i, 0), except for i = 0
  for (Index j = low; j <= high; ++j) {
    if (Model::gauged && (j - 1) % kRowsAtOnce == 0) {
      Vec by_y = load(y.gauge + (j - 1) * kLanes);
      for (Vec& cell : left) cell *= by_y;
      corner *= by_y;
    }
    Vec up = above(j), before = corner;
    corner = up;
    const double* here = y.values + (j - 1) * channels * kLanes;
    Vec only = kSingle ? load(here) : Vec{};
    for (int r = 0; r < kRowCount; ++r) {
      Vec squares = kSingle ? square(steps[r] - only) : Vec{};
      if constexpr (!kSingle) {
        const double* own = x + (first + r) * channels;
        for (Index c = 0; c < channels; ++c)
          squares = squares + square(splat(own[c]) - load(here + c * kLanes));
      }
      Index lag = kBanded ? lag_of(first + r + 1, j) : 0;
      Vec weight = kBanded && rule.weights != nullptr ? splat(rule.weights[lag]) : neutral;
      Vec similar = Model::local(squares, scale, weight);
      if constexpr (kBanded) similar = Model::within(similar, static_cast<double>(lag), widths);
      Vec beside = left[r];
      up = left[r] = Model::join(similar, before, up, beside);
      before = beside;
    }
    store(row + j * kLanes, up);
  }
}

template <class Model, bool kBanded, bool kSingle>
void align_steps(const double* x, const double* x_gauge, Index first, Index last, const LaneSeries& y,
                 const AlignmentRule& rule, double* row) {
  constexpr int rows = static_cast<int>(kRowsAtOnce);
  for (; first + rows <= last; first += rows)
    align_block<Model, kBanded, kSingle, rows>(x, x_gauge, first, y, rule, row);
  for (; first < last; ++first) align_block<Model, kBanded, kSingle, 1>(x, x_gauge, first, y, rule, row);
}

// Where sums are gauged, subnormal numbers are taken for zero meanwhile: the processor computes a hundred
// times slower with them, and they do not count.  Two functions, for a destructor would bring a shared symbol
// along.
#if defined(__SSE2__)
MERCER_INLINE unsigned flush_subnormals(bool wanted) {
  unsigned before = __builtin_ia32_stmxcsr();
  if (wanted) __builtin_ia32_ldmxcsr(before | 0x8040);
  return before;
}
MERCER_INLINE void restore_subnormals(unsigned before) { __builtin_ia32_ldmxcsr(before); }
#else
MERCER_INLINE unsigned flush_subnormals(bool) { return 0; }
MERCER_INLINE void restore_subnormals(unsigned) {}
#endif

template <class Model, bool kBanded>
void align_rows(const double* x, const double* x_gauge, Index first, Index last, const LaneSeries& y,
                const AlignmentRule& rule, double* row) {
  unsigned before = flush_subnormals(Model::gauged);
  if (y.channels == 1)
    align_steps<Model, kBanded, true>(x, x_gauge, first, last, y, rule, row);
  else
    align_steps<Model, kBanded, false>(x, x_gauge, first, last, y, rule, row);
  restore_subnormals(before);
}

// 2^-e for the whole number e with 4^e <= a < 4^(e + 1); a >= 1.
MERCER_INLINE Vec inverse_root(Vec a) {
  double lanes[kLanes];
  store(lanes, a);
  for (double& lane : lanes) {
    double root = 1.0;
    while (lane * root * root >= 4.0 && root > 0x1p-500) root *= 0.5;  // infinity has no root
    lane = root;
  }
  return load(lanes);
}

// Each lane with itself, below the diagonal.  Row i is divided by a_{i-1} as long as a_i is not known.  Then
// the cell (i, i) is (i-1, i-1) + 2 (i, i-1), for a step is similar to itself to the degree 1, and tells how
// a_i should be chosen for it to be between 1 and 4.
template <class Model, bool kBanded>
void gauge_rows(Index first, Index last, const LaneSeries& y, const AlignmentRule& rule, double* gauge,
                double* norms, double* row) {
  unsigned subnormals = flush_subnormals(true);
  const Index channels = y.channels, stride = channels * kLanes;
  const Scale scale(rule.scale);
  for (Index i = first + 1; i <= last; ++i) {
    const double* own = y.values + (i - 1) * stride;
    Index low = kBanded ? at_least_one(i - rule.width) : 1;
    Vec by_above = i > 1 ? load(gauge + (i - 2) * kLanes) : splat(1.0);
    Vec left = {}, corner = low > 1 ? by_above * load(row + (low - 1) * kLanes) : Vec{};
    for (Index j = low; j < i; ++j) {
      Vec by_y = load(gauge + (j - 1) * kLanes), up = by_above * load(row + j * kLanes),
          before = by_y * corner;
      corner = up;
      const double* other = y.values + (j - 1) * stride;
      Vec squares = {};
      for (Index c = 0; c < channels; ++c)
        squares = squares + square(load(own + c * kLanes) - load(other + c * kLanes));
      Vec weight = splat(kBanded ? rule.weights[i - j] : 1.0);
      left = Model::join(Model::local(squares, scale, weight), before, up, by_y * left);
      store(row + j * kLanes, left);
    }
    Vec whole = (i > 1 ? load(norms + (i - 2) * kLanes) : splat(1.0)) + 2.0 * left;
    Vec ratio = (i - 1) % kRowsAtOnce == 0 ? inverse_root(whole) : splat(1.0);
    store(row + i * kLanes, whole * ratio);
    store(gauge + (i - 1) * kLanes, ratio);
    store(norms + (i - 1) * kLanes, whole * ratio * ratio);
  }
  restore_subnormals(subnormals);
}

template <class Model>
void enter(Table& table, Alignment op) {
  AlignmentTiles& tiles = table.alignments[op];
  tiles = {align_rows<Model, false>, align_rows<Model, true>, nullptr, nullptr, Model::start, Model::nothing};
  if constexpr (Model::gauged) {
    tiles.gauge = gauge_rows<Model, false>;
    tiles.banded_gauge = gauge_rows<Model, true>;
  }
}

}  // namespace

void fill_alignments(Table& table) {
  table.lanes = kLanes;
  enter<Warping>(table, kDtw);
  enter<SummingDivisible>(table, kDivisible);
  enter<SummingGaussian>(table, kGaussian);
  enter<SummingLogsDivisible>(table, kLogDivisible);
  enter<SummingLogsGaussian>(table, kLogGaussian);
}

}  // namespace mercer::MERCER_TILES
