// What one instruction set offers: a table of single-threaded functions, each computing one tile.
//
//   module.cpp  -->  drivers (pairwise, sparse, products)  -->  Table  -->  native/tiles, once per ISA
//   Python           cut the output into tiles, threads         |           arithmetic, no allocation
//                                                               '-- chosen at load by dispatch.cpp
//
// A tile function fills rows x cols entries of `out`, at most kTileRows x kTileCols of them, and may use
// `work`, a 64-byte aligned scratch area whose size the table states.  The value of a pair depends on the
// pair alone, never on its place in a tile: sums run over features in order, in double precision.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mercer {

using Index = std::int64_t;

// The order is part of the interface: src/mercer/engine/pairwise.py mirrors it.
enum Op : int { kSqEuclidean, kL1, kMin, kMax, kChiSquare, kJensen, kOpCount, kDot = kOpCount };

// The steps of a program (native/program.hpp).  First come the operations above and these, which fill a
// register from the data; then elementwise steps on registers.  src/mercer/engine/program.py mirrors the
// order.
enum Fill : int { kAnova = kDot + 1, kAllSubsets, kCauchy, kOpaque, kFillCount };
enum StepOp : int {
  kConstant = kFillCount,
  kAdd,
  kMultiply,
  kDivide,
  kScale,
  kShift,
  kReciprocal,
  kIntegerPower,
  kRealPower,
  kExp,
  kLog1p,
  kTanh,
  kSqrt,
  kHorner,
  kOuterMultiply,
  kOuterAdd,
  kClip,
  kDiagonal,
  kWithin,
  kNonzero,
  kLookup,
  kStepEnd,
  kStepCount = kStepEnd - kFillCount
};

inline constexpr Index kTileRows = 128;
inline constexpr Index kTileCols = 128;

// Row i of a dense matrix is data[i * stride .. i * stride + cols).
template <class T>
struct Dense {
  const T* data;
  Index rows, cols, stride;
};

// Canonical compressed rows: column indices strictly increasing within a row.
template <class T, class I>
struct Csr {
  const T* data;
  const I* indices;
  const I* indptr;  // rows + 1 offsets into the whole of data
  Index rows;
};

// Rows of zeros and ones, 64 features in a word.
struct BitRows {
  const std::uint64_t* data;
  Index rows, words;  // words of a row
};
using BitsFill = void (*)(BitRows X, BitRows Y, double* target, double* work);
inline constexpr Index kBitWords = 16;  // words of a row that are taken at a time
inline constexpr Index kBitsWork = kBitWords * kTileCols;

template <class T>
struct Output {
  T* data;
  Index stride;
};

template <class T>
using DenseTile = void (*)(Dense<T> X, Dense<T> Y, Output<T> out, double* work);
template <class T, class I>
using CsrTile = void (*)(Csr<T, I> X, Csr<T, I> Y, Output<T> out);
template <class T>
using AnovaTile = void (*)(Dense<T> X, Dense<T> Y, const double* weights, const double* coefficients,
                           Index degree, Output<T> out, double* work);
template <class T>
using SubsetsTile = void (*)(Dense<T> X, Dense<T> Y, const double* weights, Output<T> out, double* work);

// A register is a tile of doubles, kTileCols from row to row.  Fill functions leave finite numbers of no
// meaning in the columns that make the last vector of a row full.
inline constexpr Index kRegister = kTileRows * kTileCols;
inline constexpr std::size_t kMostVectors = 64;  // pairs of vectors that one program may use
template <class T>
using FillTile = void (*)(Dense<T> X, Dense<T> Y, double* target, double* work);
template <class T, class I>
using CsrFill = void (*)(Csr<T, I> X, Csr<T, I> Y, Index cols, double* target, double* work);
template <class T>
using AnovaFill = void (*)(Dense<T> X, Dense<T> Y, const double* weights, const double* coefficients,
                           Index degree, Output<double> out, double* work);
template <class T>
using SubsetsFill = void (*)(Dense<T> X, Dense<T> Y, const double* weights, Output<double> out, double* work);

// One step: `target` from registers `a` and `b`, with `count` numbers from `first` on among the parameters.
// Steps that use data, a pair of vectors or an opaque tile have its number in `b`.
struct Step {
  Index op, target, a, b, first, count;
};

// Some rows of the registers of one tile, and where they lie.
struct Strip {
  double* registers;  // the first of these rows in register 0
  Index rows, cols;   // cols without padding
  const double* parameters;
  const double* const* rowwise;  // vectors that have one number per row, from the first of these rows on
  const double* const* colwise;
  Index diagonal;  // the column that lies on the diagonal in the first row; -1 if none does
};

// False if a value fails the check that the step makes.
using StepFunction = bool (*)(const Step& step, const Strip& strip);

// What becomes of a finished tile of rows x cols numbers.
template <class T>
using StoreTile = void (*)(const double* tile, Index rows, Index cols, Output<T> out);
using MultiplyTile = void (*)(const double* tile, Index rows, Index cols, const double* V, Index width,
                              double* out);

// A whole tile of kTileRows x kTileCols numbers without gaps: out += tile right, and for a tile below the
// diagonal of a symmetric matrix mirrored += tile^T left.  All have `width` columns, a multiple of
// kPackedColumns, and are aligned to 64 bytes.
using PackedTile = void (*)(const double* tile, const double* left, const double* right, Index width,
                            double* out, double* mirrored);
inline constexpr Index kPackedColumns = 8;

// `scale` times the cosines of phases + offsets (none if null), and sines unless null, into registers.
using FourierTile = void (*)(const double* phases, Index stride, Index rows, Index cols,
                             const double* offsets, double scale, double* cosines, double* sines);

template <class T>
using ScatterTile = void (*)(const double* tile, Index rows, Index cols, Output<T> out, const Index* slots);

template <class T>
struct Stores {
  StoreTile<T> plain;        // out[i][j] = tile[i][j]
  StoreTile<T> transposed;   // out[j][i] = tile[i][j]
  ScatterTile<T> scattered;  // out[slots[i]][j] = tile[i][j]
};

// The loops of SMO (native/svm/smo.hpp), over `count` variables; every array has a multiple of 32 numbers.
struct Extremes {
  double high, low;  // max of up[j] - grad[j] and min of down[j] - grad[j]
  Index up, down;    // where
};
// T are the numbers of a row of K, S those of everything else.
template <class T, class S>
struct Scans {
  Extremes (*extremes)(Index count, const S* grad, const S* up, const S* down);
  Extremes (*advance)(Index count, S* grad, const T* first, double a, const T* second, double b, const S* up,
                      const S* down);
  Index (*partner)(Index count, const S* grad, const S* down, const T* row, const S* diagonal, double top,
                   double own, double least);
};
template <class T>
using AddRows = void (*)(Index count, const T* const* rows, const double* factors, Index first, Index last,
                         double* grad);

template <class T>
using WeighRows = void (*)(Index count, const T* const* rows, const double* factors, Index first, Index last,
                           double* grad, double* size);

// Sums and minima over the alignments of two series (native/sequences/series.hpp), for the series y in the
// lanes of a vector at a time.  The order is part of the interface: src/mercer/engine/series.py mirrors it.
enum Alignment : int { kDtw, kDivisible, kGaussian, kLogDivisible, kLogGaussian, kAlignmentCount };

struct LaneSeries {
  const double* values;  // [step][channel][lane]; short series are continued by any finite numbers
  const double* gauge;   // [step][lane]
  Index steps, channels;
};

// Only cells with |i - j| <= width count.  Where the band bends the values, `weights` has a factor (for logs:
// a term) for every |i - j|, and kRowsAtOnce more that stand for nothing; `widths` has the width of each
// lane.
struct AlignmentRule {
  double scale;  // of the squared distance of two steps
  Index width;
  const double* weights;
  const double* widths;
};
inline constexpr Index kRowsAtOnce = 4, kMostLanes = 8;

// Takes `row`, the cells of step `first` of x with all steps of y and one before (times lanes), on to step
// `last`.
using AlignRows = void (*)(const double* x, const double* x_gauge, Index first, Index last,
                           const LaneSeries& y, const AlignmentRule& rule, double* row);
// The gauge of steps `first` to `last` of each lane, given that of the steps before, and `row` likewise; and
// the sum over alignments of the steps up to each with themselves, in that gauge.
using GaugeRows = void (*)(Index first, Index last, const LaneSeries& y, const AlignmentRule& rule,
                           double* gauge, double* norms, double* row);

struct AlignmentTiles {
  AlignRows plain, banded;
  GaugeRows gauge, banded_gauge;  // null where there is none
  double start, nothing;          // the cell before the first steps, and all others before one of them
};

// Rows of a Gram matrix in reduced precision (native/reduced.hpp): f(a + b - <x, y>) for the rows of a group,
// packed feature by feature, and the columns of a panel, where a and b are numbers that x and y come with.
// The first `columns` of each row go to out[r] and the following.
struct ReducedGroup {
  const float* x;        // [feature][row]
  const float* offsets;  // a
  Index rows;            // that count; there are Table::reduced_rows of them
  float* const* out;
};
inline constexpr Index kPanel = 32;  // columns
struct ReducedPanel {
  const float* y;        // [feature][column]
  const float* offsets;  // b
  Index features, columns;
};

// f on [0, 1], by polynomials: each of the intervals [2^k, 2^(k+1)) from 2^-kBinades on is cut into
// 2^kSegmentBits segments of equal length.  Smaller numbers count as the smallest.
inline constexpr int kBinades = 26, kSegmentBits = 5, kDegree = 3;
inline constexpr Index kSegments = kBinades << kSegmentBits;
// coefficients[k * kSegments + s] is that of u^k on segment s, with 0 <= u < 1.
using ReducedTile = void (*)(const ReducedGroup& group, const ReducedPanel& panel, const float* coefficients);

template <class T, class I>
struct CsrTiles {
  CsrTile<T, I> pairwise[kOpCount];
  CsrFill<T, I> fill[kDot + 1];
};

template <class T>
struct Tiles {
  Scans<T, double> scans;
  Scans<T, float> coarse_scans;  // for rows of float
  AddRows<T> add_rows;
  WeighRows<T> weigh_rows;
  FillTile<T> fill[kDot + 1];
  FillTile<T> fill_expanded_distances;  // as exact as float32 numbers are
  AnovaFill<T> fill_anova;
  SubsetsFill<T> fill_all_subsets, fill_cauchy;
  Stores<T> store, stream;  // `stream` is for outputs that no cache holds
  DenseTile<T> pairwise[kOpCount];
  CsrTiles<T, std::int32_t> csr32;
  CsrTiles<T, std::int64_t> csr64;
  AnovaTile<T> anova;
  SubsetsTile<T> all_subsets;

  template <class I>
  const CsrTiles<T, I>& csr() const {
    if constexpr (sizeof(I) == sizeof(std::int32_t))
      return csr32;
    else
      return csr64;
  }
};

// Recursions over pairs of sequences (native/sequences/string_pairs.hpp), one pair per lane.  Symbols are
// numbers: those of step i are x[i * lanes] and the following, and sequences that end before the longest go
// on with symbols that nothing matches.
struct StringLanes {
  const double* x;
  const double* y;
  Index cols;  // steps of y
};

// Rows first <= i < last of a recursion.  `state` is what one row leaves to the next, zeros at the beginning.
struct SubsequenceRule {
  Index n;
  double decay;
};
struct LocalAlignmentRule {
  const double* weights;  // of pairs of symbols, weights[a * symbols + b]; null: of equal and other symbols
  Index symbols;
  double equal, other;
  double open, extend;  // factors of the first and of every further symbol of a gap
};
struct EditRule {
  double gap, substitute;
};
template <class Rule>
using StringRows = void (*)(StringLanes pairs, Index first, Index last, const Rule& rule, double* state);

// The same on plain numbers, which may overflow, and on wide ones, which cannot.
template <class Rule>
struct StringRecursion {
  StringRows<Rule> plain, wide;
};

// Windows of one string, those that begin at codes[0] .. codes[count - 1]; at least one.
template <class T>
struct WindowsOf {
  const T* codes;
  Index count;
};

// Windows of a block, which are compared together.
constexpr Index kWindowBlock = 64;

// Adds to pairs[s - least] the pairs of windows of `length` letters that agree in s >= least places.  Codes
// and `length` fit into T.  Codes of y go on for kWindowBlock, whatever they are; work has (length -
// least + 3) (y.count + kWindowBlock) numbers.
template <class T>
using CountPairs = void (*)(WindowsOf<T> x, WindowsOf<T> y, Index length, Index least, Index* pairs, T* work);

struct StringTable {
  Index lanes;
  CountPairs<std::uint8_t> count_pairs_of_bytes;
  CountPairs<std::int32_t> count_pairs;
  StringRecursion<SubsequenceRule> subsequences;
  StringRecursion<LocalAlignmentRule> local_alignments;
  StringRows<EditRule> edits;
};

// Sequences of a hidden Markov model, one after the other; sequence s has the steps starts[s] to
// starts[s + 1] - 1.
struct HiddenChain {
  const double* start;        // states
  const double* transitions;  // states x states, from row to column
  const double* emissions;    // rows x states: likelihoods of what is seen, up to a factor per row, at most 1
  const std::int32_t* codes;  // the row of each step; null if step t has row t
  const Index* starts;
  Index sequences, states, rows;
};

// Sums over hidden paths; those that are not asked for are null.
struct HiddenSums {
  double* log_likelihoods;  // sequences; -infinity where a sequence is impossible: its other sums are 0
  double* first;            // sequences x states: P(first state | sequence)
  double* moves;            // sequences x states x states: expected numbers of transitions
  double* shown;            // sequences x rows x states: expected numbers of (row, state), with codes
  double* posteriors;       // steps x states: P(state at t | sequence)
};

// To be called now and then; throws if the work is to end.
struct Pause {
  void (*call)(void* context);
  void* context;
};

// The recursion for `count` sequences side by side, at most as many as the table has lanes.  For each lane,
// work has longest (2 states + 1) + states (states + 2) doubles.
using HiddenGroup = void (*)(const HiddenChain& chain, const Index* which, Index count,
                             const HiddenSums& sums, double* work, Pause pause);

struct Table {
  StringTable strings;
  HiddenGroup hidden_group;  // `lanes` sequences
  HiddenGroup hidden_one;    // one sequence, the same to the last bit
  Tiles<double> f64;
  Tiles<float> f32;
  Index pairwise_work;  // doubles of scratch for a pairwise tile
  Index columns_work;   // the same where rows are compressed
  Index (*anova_work)(Index degree);
  Index all_subsets_work;
  BitsFill fill_bits_dot, fill_bits_distances;
  FourierTile fourier;
  ReducedTile fill_reduced;
  Index reduced_rows;  // of a group
  StepFunction steps[kStepCount];
  AlignmentTiles alignments[kAlignmentCount];
  Index lanes;                       // series that an AlignRows takes side by side
  MultiplyTile multiply;             // out += tile V
  MultiplyTile multiply_transposed;  // out += tile^T V
  PackedTile multiply_below;         // tiles below the diagonal of a symmetric matrix
  PackedTile multiply_square;        // tiles on it, where nothing is mirrored

  template <class T>
  const Tiles<T>& tiles() const {
    if constexpr (sizeof(T) == sizeof(double))
      return f64;
    else
      return f32;
  }
};

}  // namespace mercer
