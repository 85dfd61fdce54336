#include "pairs.hpp"

#include <algorithm>
#include <utility>

namespace mercer {
namespace {

// Numbers of a square that is transposed at a time: a line of the cache has as many.
constexpr Index kSquare = 16;

// How often f is computed anew before the rest counts as rounding.
constexpr int kMostChecks = 6;

constexpr double kSecondsPerWatch = 0.05;

}  // namespace

template <class T>
void PairBlocks<T>::assemble(T* K, Index stride) const {
  Index n = size();
  for (Index i = 0; i < first_size; ++i) {
    T* row = K + i * stride;
    std::copy_n(first.data + i * first.stride, first_size, row);
    std::copy_n(cross.data + i * cross.stride, second_size, row + first_size);
    std::fill(row + n, row + stride, T(0));
  }
  for (Index j = 0; j < second_size; ++j) {
    T* row = K + (first_size + j) * stride;
    std::copy_n(second.data + j * second.stride, second_size, row + first_size);
    std::fill(row + n, row + stride, T(0));
  }
  for (Index top = 0; top < first_size; top += kSquare)
    for (Index left = 0; left < second_size; left += kSquare)
      for (Index j = left; j < std::min(left + kSquare, second_size); ++j) {
        T* row = K + (first_size + j) * stride;
        for (Index i = top; i < std::min(top + kSquare, first_size); ++i)
          row[i] = cross.data[i * cross.stride + j];
      }
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
  Index begin = begin_[t], n = begin_[t + 1] - begin, stride = Decomposition<T>::row_stride(n);
  blocks_[t].assemble(memory, stride);
  std::vector<double> diagonal(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) diagonal[i] = static_cast<double>(memory[i * (stride + 1)]);

  QuadraticProblem problem = all_;
  problem.n = n;
  problem.linear += begin;
  problem.low += begin;
  problem.high += begin;
  problem.diagonal = diagonal.data();
  Decomposition<T> solver(problem, memory, b_ + begin, problem.linear);
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
