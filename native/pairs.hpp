// Many quadratic problems (native/decomposition.hpp), each on the points of two classes.
//
// With blocks of K between classes in memory, a problem is put together from four of them,
//
//   K = [ first   cross  ]
//       [ cross'  second ]
//
// row by row as the rows are needed (those of `cross` may be computed there and then), in memory that its
// thread uses over and over, and solved there: for one box, or for several that differ in their size, each
// from the solution for the one before, which has grown with its box, and with the rows that are there.
// Threads take problems from one queue; each is solved by one of them alone, so that the bits do not depend
// on how many there are.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <vector>

#include "decomposition.hpp"
#include "single.hpp"

namespace mercer {

// Rows of a block, `stride` numbers apart.
template <class T>
struct Block {
  const T* data;
  Index stride;
};

// Rows of all points, and where those of the two classes begin: `cross`, without memory for it.
struct CrossRows {
  const SingleRows* rows = nullptr;
  Index first = 0, second = 0;
};

template <class T>
struct PairBlocks {
  Block<T> first, cross, second;
  Index first_size, second_size;
  CrossRows lazy{};  // takes the place of `cross` if it has rows

  Index size() const { return first_size + second_size; }
  double diagonal(Index i) const;
  void make_row(Index i, T* row, Index length) const;  // pads it with zeros
  void make_cross(Index i, T* out) const;
};

struct PairResult {
  Ending ending = kStopped;
  Index steps = 0, rounds = 0;
  Quality quality{};
  double size = 0.0;  // the largest sum_j |K_ij b_j|
};

template <class T>
class Pairs {
 public:
  using Watch = typename Decomposition<T>::Watch;

  // The arrays of `all` hold one problem after the other.  For each of the `factors`, by which the bounds are
  // multiplied, b and f have such an array: the first b is the start, and they become the solutions with
  // their gradients.
  Pairs(std::vector<PairBlocks<T>> blocks, QuadraticProblem all, std::vector<double> factors, double* b,
        double* f);

  // Numbers of T that a thread needs to put a problem together.
  Index room() const;

  // Solves problems until none is left, in as many threads as call this, each with memory of its own.  Steps
  // go on to `goal`; the end counts if the violation of f, computed anew, is at most `tolerance`.
  void work(T* memory, double goal, double tolerance, Index most_steps, const Watch& watch);

  void stop() { stopped_ = true; }

  // Those of all problems for the first factor, then for the next.
  const std::vector<PairResult>& results() const { return results_; }

 private:
  using Clock = std::chrono::steady_clock;

  void solve(std::size_t t, T* memory, double goal, double tolerance, Index most_steps, const Watch& watch);
  PairResult improve(Decomposition<T>& solver, double goal, double tolerance, Index most_steps,
                     const Watch& watch);
  bool is_stopped(const Watch& watch);

  std::vector<PairBlocks<T>> blocks_;
  std::vector<Index> begin_;  // of each problem in the arrays
  QuadraticProblem all_;
  std::vector<double> factors_;
  double *b_, *f_;
  std::vector<PairResult> results_;
  std::atomic<std::size_t> next_{0};
  std::atomic<Index> steps_{0};       // of the problems that are solved
  std::atomic<double> violation_{0};  // of the last of them
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  Clock::time_point last_watch_ = Clock::now();
};

}  // namespace mercer
