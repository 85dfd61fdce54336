// Sums over local alignments and least costs of edit scripts, one pair of sequences per lane.
//
// An alignment is a list of pairs x_i ~ y_j, increasing in i and in j.  M(i, j) is the weight of those that
// end with x_i ~ y_j, X(i, j) of those followed by a gap in x that reaches i, Y(i, j) of those followed by a
// gap in y (after one in x, or none) that reaches j:
//
//   M(i, j) = w(x_i, y_j) (1 + Q(i-1, j-1))     Q = M + X + Y
//   X(i, j) = open M(i-1, j) + extend X(i-1, j)
//   Y(i, j) = open (M + X)(i, j-1) + extend Y(i, j-1)
//
// Wanted is the sum of M over all i and j.  Kept from row to row are Q and V(i, j) = X(i+1, j).
#include "tiles.hpp"
#include "wide.hpp"

namespace mercer::MERCER_TILES {
namespace {

// Weights of the pairs of one row.  Padding is negative here.
struct EqualityWeights {
  Vec x, equal, other;
  EqualityWeights(const LocalAlignmentRule& rule, Vec symbols)
      : x(symbols), equal(splat(rule.equal)), other(symbols < 0.0 ? splat(0.0) : splat(rule.other)) {}
  MERCER_INLINE Vec operator()(Vec y) const { return x == y ? equal : y < 0.0 ? splat(0.0) : other; }
};

// Padding has a symbol of its own here, of weight 0.
struct TableWeights {
  const double* table;
  Vec start;
  TableWeights(const LocalAlignmentRule& rule, Vec symbols)
      : table(rule.weights), start(symbols * splat(static_cast<double>(rule.symbols))) {}
  MERCER_INLINE Vec operator()(Vec y) const {
    double places[kLanes], found[kLanes];
    store(places, start + y);
    for (int l = 0; l < kLanes; ++l) found[l] = table[static_cast<Index>(places[l])];
    return load(found);
  }
};

// What one row carries from column to column: Q(i-1, j-1), Y(i, j) and the sum of M so far.  The state has
// kDoubles per lane for every column.
struct PlainRow {
  using Number = Vec;
  static constexpr Index kDoubles = 2;  // Q and V
  Vec before = splat(0.0), Y = splat(0.0), sum = splat(0.0);

  template <class Weights>
  MERCER_INLINE void step(const Weights& weight, Vec y, Vec open, Vec extend, double* column) {
    const Vec M = weight(y) * (splat(1.0) + before), X = load(column + kLanes), ends = M + X;
    before = load(column);
    store(column, ends + Y);
    store(column + kLanes, muladd(open, M, extend * X));
    Y = muladd(open, ends, extend * Y);
    sum = sum + M;
  }
};

// The same on wide numbers; those of one cell share their exponent.  That loses nothing that counts: a number
// is dropped if it is below 2^-400 of Q here, and the cells next to this one hold at least open^2 Q, which
// the caller keeps above 2^-300.
struct WideRow {
  using Number = Wide;
  static constexpr Index kDoubles = 3;  // Q, V and their exponent
  Wide before = Numbers<Wide>::zero(), after = Numbers<Wide>::zero(), sum = Numbers<Wide>::zero();

  template <class Weights>
  MERCER_INLINE void step(const Weights& weight, Vec y, Vec open, Vec extend, double* column) {
    const Vec above = load(column + 2 * kLanes), e = larger(larger(before.e, above), after.e);
    const Vec here = weight(y) * (before.m + fading(-before.e));
    const Vec M = here * fading(before.e - e), X = load(column + kLanes) * fading(above - e);
    const Vec Y = after.m * fading(after.e - e), ends = M + X, Q = ends + Y;
    const Vec normalized_e = normalized_exponent(Q, e), factor = normalizing_factor(e, normalized_e);
    before = {load(column), above};
    store(column, Q * factor);
    store(column + kLanes, kept(muladd(open, M, extend * X) * factor));
    store(column + 2 * kLanes, normalized_e);
    after = {kept(muladd(open, ends, extend * Y) * factor), normalized_e};
    sum = normalized(sum + Wide{M, e});
  }

 private:
  static MERCER_INLINE Vec kept(Vec a) { return a < kNegligible ? splat(0.0) : a; }
  static constexpr double kNegligible = 0x1p-400;
};

// Some rows go through some columns together, which stay in the first cache meanwhile.
constexpr Index kRowsTogether = 8, kStrip = 64;

// State: the sum, then the columns.
template <class Row, class Weights>
void rows(StringLanes pairs, Index first, Index last, const LocalAlignmentRule& rule, double* state) {
  using Number = Numbers<typename Row::Number>;
  const Vec open = splat(rule.open), extend = splat(rule.extend);
  double* columns = state + Number::kSize;
  for (Index i = first; i < last; i += kRowsTogether) {
    const Index count = last - i < kRowsTogether ? last - i : kRowsTogether;
    Row together[kRowsTogether];
    for (Index j = 0; j < pairs.cols; j += kStrip) {
      const Index end = j + kStrip < pairs.cols ? j + kStrip : pairs.cols;
      for (Index r = 0; r < count; ++r) {
        const Weights weight(rule, load(pairs.x + (i + r) * kLanes));
        Row row = together[r];
        for (Index c = j; c < end; ++c)
          row.step(weight, load(pairs.y + c * kLanes), open, extend, columns + c * Row::kDoubles * kLanes);
        together[r] = row;
      }
    }
    for (Index r = 0; r < count; ++r) Number::write(state, Number::sum(Number::read(state), together[r].sum));
  }
}

template <class Row>
void alignments(StringLanes pairs, Index first, Index last, const LocalAlignmentRule& rule, double* state) {
  auto run = rule.weights == nullptr ? rows<Row, EqualityWeights> : rows<Row, TableWeights>;
  run(pairs, first, last, rule, state);
}

// D(i, j), the cost of making the first j symbols of y out of the first i of x.  State: D(i, 1), D(i, 2), ...
void edits(StringLanes pairs, Index first, Index last, const EditRule& rule, double* state) {
  const Vec gap = splat(rule.gap), substitute = splat(rule.substitute), zero = splat(0.0);
  if (first == 0)
    for (Index j = 0; j < pairs.cols; ++j)
      store(state + j * kLanes, splat(rule.gap * static_cast<double>(j + 1)));
  for (Index i = first; i < last; ++i) {
    const Vec x = load(pairs.x + i * kLanes);
    Vec corner = splat(rule.gap * static_cast<double>(i)),
        left = splat(rule.gap * static_cast<double>(i + 1));
    for (Index j = 0; j < pairs.cols; ++j) {
      const Vec up = load(state + j * kLanes);
      const Vec exchanged = corner + (x == load(pairs.y + j * kLanes) ? zero : substitute);
      left = smaller(exchanged, smaller(up, left) + gap);
      corner = up;
      store(state + j * kLanes, left);
    }
  }
}

}  // namespace

void fill_string_pairs(Table& table) {
  table.strings.local_alignments = {alignments<PlainRow>, alignments<WideRow>};
  table.strings.edits = edits;
}

}  // namespace mercer::MERCER_TILES
