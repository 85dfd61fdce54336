// Many quadratic problems (native/svm/optimality.hpp), each on the points of two classes, by SMO.
//
// With blocks of K between classes in memory, a problem is put together from them,
//
//   K = [ first   cross  ]
//       [ cross'  second ]
//
// row by row as SMO needs the rows, in memory that its thread uses again and again.  Threads take problems
// from one queue; each is solved by one thread alone.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <vector>

#include "smo.hpp"

namespace mercer {

// Rows of a block, `stride` numbers apart.
template <class T>
struct Block {
  const T* data;
  Index stride;
};

template <class T>
struct PairBlocks {
  Block<T> first, cross, second;
  Index first_size, second_size;

  Index size() const { return first_size + second_size; }
  double diagonal(Index i) const;
  void make_row(Index i, T* row, Index length) const;  // pads it with zeros
};

struct PairResult {
  Ending ending = kStopped;
  Index iterations = 0, rounds = 0;
  Optimality optimality{};
  double size = 0.0;  // the largest sum_j |K_ij beta_j|
};

template <class T>
class Pairs {
 public:
  using Watch = typename Smo<T>::Watch;

  // The arrays of `all` hold one problem after the other.  beta is the start and becomes the solution, grad
  // its gradient.
  Pairs(std::vector<PairBlocks<T>> blocks, QuadraticProblem all, double* beta, double* grad);

  // Numbers of T that a thread needs to put a problem together.
  Index buffer_size() const;

  // Solves problems until none is left, in all threads that call this, each with a buffer of its own.
  // Iterations go on to `goal`; a problem is solved if the violation of the gradient, computed anew, is at
  // most `tolerance`.
  void work(T* buffer, double goal, double tolerance, Index max_iterations, const Watch& watch);

  void stop() { stopped_ = true; }

  const std::vector<PairResult>& results() const { return results_; }

 private:
  using Clock = std::chrono::steady_clock;

  PairResult solve(std::size_t t, T* buffer, double goal, double tolerance, Index max_iterations,
                   const Watch& watch);
  bool is_stopped(const Watch& watch);

  std::vector<PairBlocks<T>> blocks_;
  std::vector<Index> begin_;  // of each problem in the arrays
  QuadraticProblem all_;
  double *beta_, *grad_;
  std::vector<PairResult> results_;
  std::atomic<std::size_t> next_{0};
  std::atomic<Index> iterations_{0};  // of the problems that are solved
  std::atomic<double> violation_{0};  // of the last of them
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  Clock::time_point last_watch_ = Clock::now();
};

}  // namespace mercer
