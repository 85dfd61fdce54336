#include "pairs.hpp"

#include <algorithm>
#include <utility>

namespace mercer {
namespace {

// How often the gradient is computed anew before the rest counts as rounding.
constexpr int kMostChecks = 6;

constexpr double kSecondsPerWatch = 0.05;

}  // namespace

template <class T>
double PairBlocks<T>::diagonal(Index i) const {
  const Block<T>& block = i < first_size ? first : second;
  return static_cast<double>(block.data[(i < first_size ? i : i - first_size) * (block.stride + 1)]);
}

template <class T>
void PairBlocks<T>::make_row(Index i, T* row, Index length) const {
  Index j = i - first_size;
  if (j < 0) {
    std::copy_n(first.data + i * first.stride, first_size, row);
    std::copy_n(cross.data + i * cross.stride, second_size, row + first_size);
  } else {
    for (Index k = 0; k < first_size; ++k) row[k] = cross.data[k * cross.stride + j];
    std::copy_n(second.data + j * second.stride, second_size, row + first_size);
  }
  std::fill(row + size(), row + length, T(0));
}

template <class T>
Pairs<T>::Pairs(std::vector<PairBlocks<T>> blocks, QuadraticProblem all, double* beta, double* grad)
    : blocks_(std::move(blocks)), begin_{0}, all_(all), beta_(beta), grad_(grad), results_(blocks_.size()) {
  for (const PairBlocks<T>& block : blocks_) begin_.push_back(begin_.back() + block.size());
}

template <class T>
Index Pairs<T>::buffer_size() const {
  Index most = 0;
  for (const PairBlocks<T>& block : blocks_)
    most = std::max(most, block.size() * Smo<T>::row_stride(block.size()));
  return most;
}

template <class T>
void Pairs<T>::work(T* buffer, double goal, double tolerance, Index max_iterations, const Watch& watch) {
  for (std::size_t t = next_++; t < blocks_.size(); t = next_++) {
    if (is_stopped(watch)) max_iterations = 0;  // the other problems get their optimality all the same
    results_[t] = solve(t, buffer, goal, tolerance, max_iterations, watch);
  }
}

template <class T>
bool Pairs<T>::is_stopped(const Watch& watch) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (stopped_ || std::chrono::duration<double>(Clock::now() - last_watch_).count() < kSecondsPerWatch)
      return stopped_;
    last_watch_ = Clock::now();
  }
  if (watch(iterations_, violation_)) stopped_ = true;
  return stopped_;
}

template <class T>
PairResult Pairs<T>::solve(std::size_t t, T* buffer, double goal, double tolerance, Index max_iterations,
                           const Watch& watch) {
  const PairBlocks<T>& blocks = blocks_[t];
  Index begin = begin_[t], n = blocks.size(), stride = Smo<T>::row_stride(n);
  std::vector<double> diagonal(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) diagonal[i] = blocks.diagonal(i);

  QuadraticProblem problem = all_;
  problem.n = n;
  problem.linear += begin;
  problem.low += begin;
  problem.high += begin;
  problem.diagonal = diagonal.data();
  double *beta = beta_ + begin, *grad = grad_ + begin;
  auto make = [&](Index i, T* row) { blocks.make_row(i, row, stride); };
  Smo<T> solver(problem, buffer, make, beta, problem.linear);
  if (std::any_of(beta, beta + n, [](double b) { return b != 0.0; })) solver.recompute();

  auto fetch = [](const std::vector<Index>&, const std::vector<Index>&) {};
  auto report = [&](Index done, double violation) {
    if (!stopped_ && watch(iterations_ + done, violation)) stopped_ = true;
    return stopped_.load();
  };
  PairResult result;
  for (int check = 0; check < kMostChecks; ++check) {
    Index left = stopped_ ? 0 : max_iterations - solver.iterations();
    result.ending = solver.run(goal, left, fetch, report);
    if (result.ending != kConverged) break;
    result.size = solver.recompute();
    if (solver.violation() <= tolerance) break;
  }
  if (result.ending == kLimit && stopped_) result.ending = kStopped;
  result.iterations = solver.iterations();
  result.rounds = solver.rounds();
  result.optimality = solver.optimality();
  iterations_ += result.iterations;
  violation_ = result.optimality.violation;
  std::copy_n(solver.beta(), n, beta);
  std::copy_n(solver.grad(), n, grad);
  return result;
}

template struct PairBlocks<float>;
template struct PairBlocks<double>;
template class Pairs<float>;
template class Pairs<double>;

}  // namespace mercer
