#include "pairs.hpp"

#include <algorithm>
#include <utility>

namespace mercer {
namespace {

// How often f is computed anew before the rest counts as rounding.
constexpr int kMostChecks = 6;

constexpr double kSecondsPerWatch = 0.05;

// The bounds of a problem, times a factor.
struct Box {
  const double *low_of_one, *high_of_one;
  double factor;
  std::vector<double> low, high;

  Box(const QuadraticProblem& problem, double factor_)
      : low_of_one(problem.low), high_of_one(problem.high), factor(factor_) {
    for (Index i = 0; i < problem.n; ++i)
      low.push_back(factor * low_of_one[i]), high.push_back(factor * high_of_one[i]);
  }

  // Takes another factor.  b, and f = K b + q, stay where they are in proportion, at a bound exactly, if most
  // variables are at one; else as they are, if b is still in the box: with none at a bound, it is the
  // solution.
  void grow(double next, const double* linear, double* b, double* f) {
    double ratio = next / factor;
    Index bound = 0, others = 0;
    for (std::size_t i = 0; i < low.size(); ++i)
      if (b[i] != 0.0) ++(b[i] == high[i] || b[i] == low[i] ? bound : others);
    bool stays = ratio >= 1.0 && bound < others;
    factor = next;
    for (std::size_t i = 0; i < low.size(); ++i) {
      double least = factor * low_of_one[i], most = factor * high_of_one[i];
      if (!stays) {
        b[i] = b[i] == high[i] ? most : b[i] == low[i] ? least : std::clamp(ratio * b[i], least, most);
        f[i] = linear[i] + ratio * (f[i] - linear[i]);
      }
      low[i] = least;
      high[i] = most;
    }
  }
};

}  // namespace

template <class T>
double PairBlocks<T>::diagonal(Index i) const {
  const Block<T>& block = i < first_size ? first : second;
  return static_cast<double>(block.data[(i < first_size ? i : i - first_size) * (block.stride + 1)]);
}

template <class T>
void PairBlocks<T>::make_row(Index i, T* row, Index length) const {
  Index j = i - first_size;
  if (j < 0)
    std::copy_n(first.data + i * first.stride, first_size, row);
  else
    std::copy_n(second.data + j * second.stride, second_size, row + first_size);
  make_cross(i, j < 0 ? row + first_size : row);
  std::fill(row + size(), row + length, T(0));
}

// The values of a point with the other class.
template <class T>
void PairBlocks<T>::make_cross(Index i, T* out) const {
  Index j = i - first_size;
  if constexpr (sizeof(T) == sizeof(float))
    if (lazy.rows != nullptr)
      return j < 0 ? lazy.rows->fill(lazy.first + i, lazy.second, second_size, out)
                   : lazy.rows->fill(lazy.second + j, lazy.first, first_size, out);
  if (j < 0)
    std::copy_n(cross.data + i * cross.stride, second_size, out);
  else
    for (Index k = 0; k < first_size; ++k) out[k] = cross.data[k * cross.stride + j];
}

template <class T>
Pairs<T>::Pairs(std::vector<PairBlocks<T>> blocks, QuadraticProblem all, std::vector<double> factors,
                double* b, double* f)
    : blocks_(std::move(blocks)),
      begin_{0},
      all_(all),
      factors_(std::move(factors)),
      b_(b),
      f_(f),
      results_(blocks_.size() * factors_.size()) {
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
  Box box(problem, factors_[0]);
  problem.low = box.low.data();
  problem.high = box.high.data();
  auto make = [&](Index i, T* row) { blocks.make_row(i, row, stride); };
  Decomposition<T> solver(problem, memory, make, b_ + begin, problem.linear);
  if (std::any_of(b_ + begin, b_ + begin + n, [](double b) { return b != 0.0; })) solver.recompute();
  for (std::size_t k = 0; k < factors_.size(); ++k) {
    double *b = b_ + static_cast<Index>(k) * all_.n + begin, *f = f_ + static_cast<Index>(k) * all_.n + begin;
    if (k > 0) {
      std::copy_n(solver.b(), n, b);
      std::copy_n(solver.f(), n, f);
      box.grow(factors_[k], problem.linear, b, f);
      solver.restart(b, f);
    }
    results_[k * blocks_.size() + t] = improve(solver, goal, tolerance, most_steps, watch);
    std::copy_n(solver.b(), n, b);
    std::copy_n(solver.f(), n, f);
  }
}

template <class T>
PairResult Pairs<T>::improve(Decomposition<T>& solver, double goal, double tolerance, Index most_steps,
                             const Watch& watch) {
  Index steps = solver.steps(), rounds = solver.rounds();
  auto fetch = [](const std::vector<Index>&, const std::vector<Index>&) {};
  auto told = [&](Index done, double violation) {
    if (!stopped_ && watch(steps_ + done - steps, violation)) stopped_ = true;
    return stopped_.load();
  };
  PairResult result;
  for (int check = 0; check < kMostChecks; ++check) {
    Index left = stopped_ ? 0 : most_steps - (solver.steps() - steps);
    result.ending = solver.run(goal, left, fetch, told);
    if (result.ending != kConverged) break;
    result.size = solver.recompute();
    if (solver.quality().violation <= tolerance) break;
  }
  if (result.ending == kLimit && stopped_) result.ending = kStopped;
  result.steps = solver.steps() - steps;
  result.rounds = solver.rounds() - rounds;
  result.quality = solver.quality();
  steps_ += result.steps;
  violation_ = result.quality.violation;
  return result;
}

template struct PairBlocks<float>;
template struct PairBlocks<double>;
template class Pairs<float>;
template class Pairs<double>;

}  // namespace mercer
