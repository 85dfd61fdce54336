// The quadratic problem behind all support vector machines, by two-variable decomposition on working sets.
//
//   minimise   1/2 b' K b + q' b + width |b|_1      over b in R^n
//   subject to low_i <= b_i <= high_i               low_i <= 0 <= high_i, either may be infinite
//   and        kSum     sum_i b_i  stays as it is at the start
//              kSigned  the sums of the positive and of the negative b_i stay, each by itself
//              kFree    nothing more
//
// b_i is y_i alpha_i of a classifier, alpha_i - alpha*_i of a regression.  With f = K b + q, the objective
// falls at the rate up_i when b_i grows and at -down_i when it shrinks,
//
//   up_i   = -f_i - width sign(b_i + 0)     down_i = -f_i - width sign(b_i - 0)
//
// and b is optimal iff max up <= min down over the variables that may grow and shrink (for kFree: iff
// max up <= 0 <= min down); the difference is the violation.  For kSigned this holds for the positive and
// for the negative variables, each with a threshold of its own.
//
// Outer step: the most violating variables, and those of the last steps, make a working set W.  Rows of K
// that are not in the cache are asked for together.  Inner steps: on the block K_WW, take i with the largest
// up_i, j with the greatest second-order gain, and move b_i up and b_j down as far as pays.  Then the changes
// are carried over to all of f, in double precision.  When all variables fit, W is all of them.
//
// If rows are in single precision, so is f within the set, as long as the two f differ afterwards by little
// against the tolerance.
//
// Every sum is added up in a fixed order, by one thread: the bits do not depend on the number of threads.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "room.hpp"
#include "row_cache.hpp"
#include "table.hpp"

namespace mercer {

// Variables of a working set: the most, and the most if half of them are free, or nearly all of the larger
// set.  Free variables that do not fit push each other out, round after round.
inline constexpr Index kSetSize = 2048, kFreeSetSize = 4096;

// Scans take so many numbers at a time: four vectors of any instruction set.
inline constexpr Index kPadding = 32;
inline Index padded(Index n) { return (n + kPadding - 1) / kPadding * kPadding; }

enum Constraint : int { kSum, kSigned, kFree };

// How a run ended.
enum Ending : int {
  kConverged,  // the violation is at most the tolerance
  kLimit,      // as many steps as were asked for
  kStopped,    // whoever watches said so
  kUnbounded,  // the objective has no lower bound
  kStalled,    // no step lowers the objective any more in this precision
  kNotFinite,  // a number of f overflowed
};

struct QuadraticProblem {
  Index n;
  const double *linear, *low, *high;  // linear is q
  const double* diagonal;             // of K
  double width;
  Constraint constraint;
};

// How good a point is, as in src/mercer/solvers/svm/problem.py.
struct Quality {
  double violation, offset[2], objective, gap;
};

class RoughRows;

template <class T>
class Decomposition {
 public:
  // Computes rows into slots of the cache; may throw.
  using Fetch = std::function<void(const std::vector<Index>& rows, const std::vector<Index>& slots)>;
  // Told the steps so far and the violation, now and then; true stops.
  using Watch = std::function<bool(Index steps, double violation)>;

  // Starts at b with f = K b + q.  Variable i is column `columns[i]` of the rows, or i if there are none;
  // other columns are possible only if the rows are complete.
  Decomposition(QuadraticProblem problem, RowCache<T> cache, const Index* columns, const double* b,
                const double* f, int threads);

  // Writes a row of K, padded with zeros to row_stride(n) numbers.
  using Make = std::function<void(Index i, T* row)>;

  // The working set is all variables.  Rows are made where K is, when a step first needs them: of points that
  // are far from the boundary, none.
  Decomposition(QuadraticProblem problem, T* K, Make make, const double* b, const double* f);
  static Index row_stride(Index n);

  // Where values of the rows, of float, come from: of few features they are computed again in less time than
  // they are picked from the rows.  Variable i is point i.
  void compute_sets(const RoughRows* rough) { rough_ = rough; }

  Ending run(double tolerance, Index most_steps, const Fetch& fetch, const Watch& watch);

  // Largest violation, with the thresholds between which up and down lie: one, or two for kSigned.
  double violation(double* high, double* low) const;

  // Goes on from other values.
  void restart(const double* b, const double* f);

  // f anew from b; returns the largest sum_j |K_ij b_j|, or -1 if a row that this takes is not there.
  double recompute();

  Quality quality() const;

  // Leaves the memory of the working set to others; its values are computed anew if steps go on.
  void release_memory();

  void stop() { stopped_ = true; }

  const double* b() const { return b_.data(); }
  const double* f() const { return f_.data(); }
  Index size() const { return p_.n; }
  int threads() const { return threads_; }
  void set_threads(int threads) { threads_ = threads; }
  Index steps() const { return steps_; }
  Index rounds() const { return rounds_; }
  const RowCache<T>& cache() const { return cache_; }

 private:
  // What scans of the working set read.
  template <class S>
  struct State {
    std::vector<S> f, diagonal, up, down;

    void resize(std::size_t width, int groups);
  };

  // The variables of the working set, side by side.
  struct Inner {
    void grow(Index size, Index most, int groups);  // makes room; for `most` at once if there is too little
    void resize(Index size, int groups);            // the same, but for K
    void clear();                                   // no member is left
    void pad(Index row);                            // zeros after the last member
    void enter(Index at, Index i, Index column_of_i);

    Index width = 0;            // from row to row
    std::vector<Index> member;  // which variables
    std::vector<Index> column;  // their columns
    std::vector<Index> place;   // of a variable in the set, or -1
    std::vector<Index> chosen;  // the round in which a member was last among the worst
    std::vector<Index> fresh;   // places of members whose rows are not in K yet
    T* K = nullptr;
    Room own;                 // what K is, unless it lies elsewhere
    std::vector<char> lacks;  // whether a row is still to be made
    std::vector<double> b, low, high;
    State<double> state;
    State<float> coarse;
    double gain = 0.0;  // by how much the objective has fallen in this round
  };

  // Variables at .. at + length - 1, which are columns from .. from + length - 1.
  struct Run {
    Index at, from, length;
  };

  // Row of the member `at` in K_WW.
  const T* row_of(Index at) {
    T* row = in_.K + at * in_.width;
    if (make_ && in_.lacks[at]) make_(at, row), in_.lacks[at] = false;
    return row;
  }

  Index column(Index i) const { return columns_ == nullptr ? i : columns_[i]; }
  int groups() const { return p_.constraint == kSigned ? 2 : 1; }
  double objective() const;
  double violation_of(const Extremes* e) const;
  void extremes(Extremes* e) const;
  std::vector<Index> violators(const Extremes* e, Index each) const;
  bool is_free(Index at) const;
  void grow(Index size);
  void make_room();
  void choose(const Extremes* e);
  void collect();
  void collect_all();
  void pick_rows();
  void copy_columns();
  bool is_coarse(double tolerance) const;
  template <class S>
  void enter_state(State<S>& state);
  Ending improve(double goal, double tolerance, Index most);
  template <class S>
  Ending descend(State<S>& state, const Scans<T, S>& scans, double tolerance, Index most);
  void carry_over();
  void carry_over_all();
  double drift() const;
  template <class Work>
  void over_columns(std::vector<const T*>& rows, const Work& work);

  QuadraticProblem p_;
  RowCache<T> cache_;
  const Index* columns_;
  Make make_;
  const RoughRows* rough_ = nullptr;
  std::vector<Run> runs_;
  int threads_;
  Index padded_;
  std::vector<double> b_, f_, up_, down_;  // up and down: one array per group
  Inner in_;
  Index size_ = 0;                              // of the working set, as far as it has grown
  bool whole_ = false;                          // it has all variables, in their order
  bool precise_ = sizeof(T) == sizeof(double);  // single precision is not enough within the set
  Index steps_ = 0, rounds_ = 0;
  int idle_ = 0;        // outer steps without progress since the last restart
  double least_ = 0.0;  // the smallest violation since then
  std::atomic<bool> stopped_{false};
};

}  // namespace mercer
