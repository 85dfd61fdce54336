// Recursions over the alignments of two series: one x against as many y as a vector has lanes.
//
// A cell (i, j) follows from its neighbours (i-1, j-1), (i-1, j), (i, j-1) and the squared distance of step i
// of x and step j of y.  Some rows are computed at once, column by column: the cells of one column follow
// from each other, but those of the next begin before they are done, so that the processor always has several
// to work on. Each operation treats x and y alike, so that the pairs (x, y) and (y, x) agree to the last bit.
#include "functions.hpp"
#include "tiles.hpp"

namespace mercer::MERCER_TILES {
namespace {

// Cells below this are taken for zero, and similarities for no less than exp of that.  Left alone, they would
// become subnormal numbers, with which the processor computes a hundred times slower.
constexpr double kLeastCell = 0x1p-960, kLeastExponent = -665.0;

// Stands for the logarithm of zero in sums of logarithms: differences of two of them are numbers.
constexpr double kLogZero = -1e300;

// The least sum of squared distances along an alignment.
struct Warping {
  static constexpr double start = 0.0, nothing = kInfinity;
  static constexpr bool gauged = false;

  static MERCER_INLINE Vec local(Vec squares, Vec, Vec) { return squares; }
  static MERCER_INLINE Vec within(Vec cost, double lag, Vec widths) {
    return splat(lag) <= widths ? cost : splat(kInfinity);
  }
  static MERCER_INLINE Vec join(Vec cost, Vec before, Vec up, Vec left, Vec, Vec) {
    return cost + smaller(smaller(up, left), before);
  }
};

// The sum over alignments of products of local similarities, divided in each cell (i, j) by a_i b_j, where
// a_i^2 is the sum over alignments of the first i steps of x with themselves, and b_j likewise for y.  Where
// the sum is a positive definite kernel, no cell exceeds 1, and a cell that underflows adds nothing that
// counts to the last one.  The gauge has the ratios a_{i-1} / a_i and b_{j-1} / b_j, between 0.41 and 1.
struct Summing {
  static constexpr double start = 1.0, nothing = 0.0;
  static constexpr bool gauged = true;

  static MERCER_INLINE Vec within(Vec similarity, double, Vec) { return similarity; }
  static MERCER_INLINE Vec join(Vec similarity, Vec before, Vec up, Vec left, Vec by_x, Vec by_y) {
    Vec cell = similarity * ((by_x * up + by_y * left) + (by_x * by_y) * before);
    return cell < kLeastCell ? Vec{} : cell;
  }
};
struct SummingGaussian : Summing {
  static MERCER_INLINE Vec local(Vec squares, Vec scale, Vec weight) {
    return weight * exponential(larger(scale * squares, splat(kLeastExponent)));
  }
};
struct SummingDivisible : Summing {
  static MERCER_INLINE Vec local(Vec squares, Vec scale, Vec weight) {
    Vec g = SummingGaussian::local(squares, scale, weight);
    return g / (2.0 - g);
  }
};

// The logarithm of the sum.
struct SummingLogs {
  static constexpr double start = 0.0, nothing = kLogZero;
  static constexpr bool gauged = false;

  static MERCER_INLINE Vec within(Vec similarity, double, Vec) { return similarity; }
  static MERCER_INLINE Vec join(Vec similarity, Vec before, Vec up, Vec left, Vec, Vec) {
    Vec high = larger(up, left), least = smaller(up, left);
    Vec most = larger(high, before), middle = smaller(high, before);
    Vec sum = 1.0 + (exponential(middle - most) + exponential(least - most));
    return similarity + (most + logarithm(sum));
  }
};
struct SummingLogsGaussian : SummingLogs {
  static MERCER_INLINE Vec local(Vec squares, Vec scale, Vec weight) {
    return larger(weight + scale * squares, splat(kLogZero));
  }
};
struct SummingLogsDivisible : SummingLogs {
  static MERCER_INLINE Vec local(Vec squares, Vec scale, Vec weight) {
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
  const Vec scale = splat(rule.scale);
  const Vec neutral = splat(Model::gauged ? 1.0 : 0.0);  // a weight that changes nothing
  const Vec widths = kBanded && rule.widths != nullptr ? load(rule.widths) : Vec{};
  Vec left[kRowCount], steps[kRowCount], by_x[kRowCount];
  for (int r = 0; r < kRowCount; ++r) {
    left[r] = splat(Model::nothing);
    steps[r] = kSingle ? splat(x[first + r]) : Vec{};
    by_x[r] = Model::gauged ? splat(x_gauge[first + r]) : Vec{};
  }
  Index low = kBanded ? at_least_one(first + 1 - rule.width) : 1;
  Index high = kBanded ? least(y.steps, first + kRowCount + rule.width) : y.steps;
  Vec corner = load(row + (least(low, high + 1) - 1) * kLanes);  // the band may have left y behind
  store(row, splat(Model::nothing));                             // the cell (i, 0), except for i = 0
  for (Index j = low; j <= high; ++j) {
    Vec up = load(row + j * kLanes), before = corner;
    corner = up;
    const double* here = y.values + (j - 1) * channels * kLanes;
    Vec only = kSingle ? load(here) : Vec{};
    Vec by_y = Model::gauged ? load(y.gauge + (j - 1) * kLanes) : Vec{};
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
      Vec cell = Model::join(similar, before, up, left[r], by_x[r], by_y);
      before = left[r];
      left[r] = cell;
      up = cell;
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

template <class Model, bool kBanded>
void align_rows(const double* x, const double* x_gauge, Index first, Index last, const LaneSeries& y,
                const AlignmentRule& rule, double* row) {
  if (y.channels == 1)
    align_steps<Model, kBanded, true>(x, x_gauge, first, last, y, rule, row);
  else
    align_steps<Model, kBanded, false>(x, x_gauge, first, last, y, rule, row);
}

// Each lane with itself, below the diagonal.  Row i is divided by a_{i-1} as long as a_i is not known; the
// cell (i, i) is then 1 + 2 (i, i-1) = (a_i / a_{i-1})^2, for a step is similar to itself to the degree 1.
template <class Model, bool kBanded>
void gauge_rows(Index first, Index last, const LaneSeries& y, const AlignmentRule& rule, double* gauge,
                double* row) {
  const Index channels = y.channels, stride = channels * kLanes;
  const Vec scale = splat(rule.scale);
  for (Index i = first + 1; i <= last; ++i) {
    const double* own = y.values + (i - 1) * stride;
    Index low = kBanded ? at_least_one(i - rule.width) : 1;
    Vec by_above = i > 1 ? load(gauge + (i - 2) * kLanes) : splat(1.0);
    Vec left = {}, corner = low > 1 ? load(row + (low - 1) * kLanes) : Vec{};
    for (Index j = low; j < i; ++j) {
      Vec up = load(row + j * kLanes), before = corner;
      corner = up;
      const double* other = y.values + (j - 1) * stride;
      Vec squares = {};
      for (Index c = 0; c < channels; ++c)
        squares = squares + square(load(own + c * kLanes) - load(other + c * kLanes));
      Vec weight = splat(kBanded ? rule.weights[i - j] : 1.0);
      Vec by_y = load(gauge + (j - 1) * kLanes);
      left = Model::join(Model::local(squares, scale, weight), before, up, left, by_above, by_y);
      store(row + j * kLanes, left);
    }
    Vec ratio = square_root(1.0 + 2.0 * left);
    store(row + i * kLanes, ratio);
    store(gauge + (i - 1) * kLanes, 1.0 / ratio);
  }
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
