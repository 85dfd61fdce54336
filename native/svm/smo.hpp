// Sequential minimal optimisation (SMO) of the problem of native/svm/optimality.hpp: two-variable steps on a
// working set, with second-order selection (Fan, Chen and Lin 2005), as in LIBSVM.
//
// Outer iteration: the most violating variables, and those of the last iterations, make a working set W. Rows
// of K that are not in the cache are asked for together.  Inner iterations: on the block K_WW, take i with
// the largest up_i, j with the greatest gain d_ij^2 / (K_ii + K_jj - 2 K_ij), and move beta_i up and beta_j
// down as far as the objective falls.  Then the changes are carried over to the whole gradient, in double
// precision.
//
// If rows are in single precision, so is the gradient within W, as long as the two differ afterwards by
// little against the tolerance.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "optimality.hpp"
#include "row_cache.hpp"
#include "table.hpp"

namespace mercer {

// Variables of a working set: the most, and the most if half of them are free, or nearly all of the larger
// set.  Free variables that do not fit push each other out, iteration after iteration.
inline constexpr Index kSetSize = 2048, kFreeSetSize = 4096;

// Scans take this many numbers at a time: four vectors of any instruction set.
inline constexpr Index kPadding = 32;
inline Index padded(Index n) { return (n + kPadding - 1) / kPadding * kPadding; }

// How a run ended.
enum Ending : int {
  kConverged,  // the violation is at most the tolerance
  kLimit,      // the number of iterations that was asked for
  kStopped,    // the watch said so
  kUnbounded,  // the objective has no lower bound
  kStalled,    // no step lowers the objective any more in this precision
  kNotFinite,  // a number of the gradient overflowed
};

template <class T>
class Smo {
 public:
  // Computes rows into slots of the cache; may throw.
  using Fetch = std::function<void(const std::vector<Index>& rows, const std::vector<Index>& slots)>;
  // Gets the iterations so far and the violation, now and then; true stops.
  using Watch = std::function<bool(Index iterations, double violation)>;

  // Starts at beta with grad = K beta + linear.
  Smo(QuadraticProblem problem, RowCache<T> cache, const double* beta, const double* grad, int threads);

  // Writes a row of K, padded with zeros to row_stride(n) numbers.
  using Make = std::function<void(Index i, T* row)>;

  // The working set is all variables.  Rows are made in K when a step first needs them: of points that are
  // far from the boundary, none.
  Smo(QuadraticProblem problem, T* K, Make make, const double* beta, const double* grad);
  static Index row_stride(Index n);

  Ending run(double tolerance, Index max_iterations, const Fetch& fetch, const Watch& watch);

  double violation() const;
  Optimality optimality() const { return mercer::optimality(p_, beta_.data(), grad_.data()); }

  // Goes on from another point, or with other bounds; rows of K stay.
  void restart(const double* beta, const double* grad);
  void set_bounds(const double* low, const double* high) { p_.low = low, p_.high = high; }

  // The gradient anew from beta; returns the largest sum_j |K_ij beta_j|, or -1 if a row is not in the cache.
  double recompute();

  const double* beta() const { return beta_.data(); }
  const double* grad() const { return grad_.data(); }
  Index size() const { return p_.n; }
  int threads() const { return threads_; }
  void set_threads(int threads) { threads_ = threads; }
  Index iterations() const { return iterations_; }
  Index rounds() const { return rounds_; }
  const RowCache<T>& cache() const { return cache_; }

 private:
  // What scans of the working set read.
  template <class S>
  struct State {
    std::vector<S> grad, diagonal, up, down;

    void resize(std::size_t stride, int groups);
  };

  // The variables of the working set, side by side.
  struct WorkingSet {
    void resize(Index size, int groups);  // everything but K
    void enter(Index at, Index i);
    void pad(Index row);  // zeros after the last member

    Index stride = 0;            // from row to row
    std::vector<Index> member;   // which variables
    std::vector<Index> place;    // of a variable in the set, or -1
    std::vector<Index> chosen;   // the round in which a member was last among the most violating
    std::vector<char> is_fresh;  // whether K lacks the row and the column of a member
    T* K = nullptr;
    std::unique_ptr<T[]> own;  // K, unless it lies elsewhere
    std::vector<double> beta, low, high;
    State<double> state;
    State<float> coarse;
    double gain = 0.0;  // by how much the objective has fallen in this round
  };

  // Row of the member `at` in K_WW.
  const T* row_of(Index at) {
    T* row = set_.K + at * set_.stride;
    if (make_ && set_.is_fresh[at]) make_(at, row), set_.is_fresh[at] = false;
    return row;
  }

  void extremes(Extremes* e) const;
  std::vector<Index> violators(const Extremes* e, Index each) const;
  bool is_free(Index at) const;
  void grow(Index size);
  void grow_if_useful();
  void choose(const Extremes* e);
  void collect();
  bool is_coarse(double tolerance) const;
  template <class S>
  void enter_state(State<S>& state);
  Ending improve(double goal, double tolerance, Index most);
  template <class S>
  Ending descend(State<S>& state, const Scans<T, S>& scans, double tolerance, Index most);
  void carry_over();
  double drift() const;
  template <class Work>
  void over_columns(const Work& work) const;

  QuadraticProblem p_;
  RowCache<T> cache_;
  Make make_;
  int threads_;
  Index padded_;
  std::vector<double> beta_, grad_, up_, down_;  // up and down: one array per group
  WorkingSet set_;
  Index size_ = 0;                              // of the working set, as far as it has grown
  bool whole_ = false;                          // it has all variables, in their order
  bool precise_ = sizeof(T) == sizeof(double);  // single precision is not enough within the set
  Index iterations_ = 0, rounds_ = 0;
  int idle_ = 0;        // rounds without progress since the last restart
  double least_ = 0.0;  // the smallest violation since then
};

}  // namespace mercer
