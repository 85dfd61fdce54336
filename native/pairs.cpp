#include "pairs.hpp"

#include <algorithm>
#include <utility>

namespace mercer {
namespace {

// How often f is computed anew before the rest counts as rounding.
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
  if (i < first_size) {
    std::copy_n(first.data + i * first.stride, first_size, row);
    std::copy_n(cross.data + i * cross.stride, second_size, row + first_size);
  } else {
    Index j = i - first_size;
    for (Index k = 0; k < first_size; ++k) row[k] = cross.data[k * cross.stride + j];
    std::copy_n(second.data + j * second.stride, second_size, row + first_size);
  }
  std::fill(row + size(), row + length, T(0));
}

template <class T>
Pairs<T>::Pairs(std::vector<PairBlocks<T>> blocks, QuadraticProblem all, double* b, double* f)
    : blocks_(std::move(blocks)), begin_{0}, all_(all), b_(b), f_(f), results_(blocks_.size()) {
  for (const PairBlocks<T>& block : blocks_) begin_.push_back(begin_.back() + block.size());
}

template <class T>
Index Pairs<T>::room() const {
  Index most = 0;
  for (const PairBlocks<T>& block : blocks_)
    most = std::max(most, block.size() * Decomposition<T>::row_stride(block.size()));
  return most;
}

template <class T>
void Pairs<T>::work(T* memory, double goal, double tolerance, Index most_steps, const Watch& watch) {
  for (std::size_t t = next_++; t < blocks_.size(); t = next_++) {
    if (is_stopped(watch)) most_steps = 0;  // the problems that are left get their quality all the same
    solve(t, memory, goal, tolerance, most_steps, watch);
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
  if (watch(steps_, violation_)) stopped_ = true;
  return stopped_;
}

template <class T>
void Pairs<T>::solve(std::size_t t, T* memory, double goal, double tolerance, Index most_steps,
                     const Watch& watch) {
  const PairBlocks<T>& blocks = blocks_[t];
  Index begin = begin_[t], n = blocks.size(), stride = Decomposition<T>::row_stride(n);
  std::vector<double> diagonal(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) diagonal[i] = blocks.diagonal(i);

  QuadraticProblem problem = all_;
  problem.n = n;
  problem.linear += begin;
  problem.low += begin;
  problem.high += begin;
  problem.diagonal = diagonal.data();
  auto make = [&](Index i, T* row) { blocks.make_row(i, row, stride); };
  Decomposition<T> solver(problem, memory, make, b_ + begin, problem.linear);
  if (std::any_of(b_ + begin, b_ + begin + n, [](double b) { return b != 0.0; })) solver.recompute();

  auto fetch = [](const std::vector<Index>&, const std::vector<Index>&) {};
  auto told = [&](Index steps, double violation) {
    if (!stopped_ && watch(steps_ + steps, violation)) stopped_ = true;
    return stopped_.load();
  };
  PairResult& result = results_[t];
  for (int check = 0; check < kMostChecks; ++check) {
    result.ending = solver.run(goal, most_steps - solver.steps(), fetch, told);
    if (result.ending != kConverged) break;
    result.size = solver.recompute();
    if (solver.quality().violation <= tolerance) break;
  }
  if (result.ending == kLimit && stopped_) result.ending = kStopped;
  result.steps = solver.steps();
  result.rounds = solver.rounds();
  result.quality = solver.quality();
  steps_ += result.steps;
  violation_ = result.quality.violation;
  std::copy_n(solver.b(), n, b_ + begin);
  std::copy_n(solver.f(), n, f_ + begin);
}

template struct PairBlocks<float>;
template struct PairBlocks<double>;
template class Pairs<float>;
template class Pairs<double>;

}  // namespace mercer
