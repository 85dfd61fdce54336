#include "smo.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "dispatch.hpp"

namespace mercer {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Inner iterations between two checks of the clock and of the whole gradient.
constexpr Index kInnerIterations = 20000;

// A round ends when the violation within the set has fallen to this part of what it was.
constexpr double kInnerShare = 0.2;

// Curvatures below this part of K_ii + K_jj count as this: two points are the same, or K is indefinite.  In
// single precision they are no more than rounding there.
template <class T>
constexpr double kLeastCurvature = sizeof(T) == sizeof(double) ? 1e-12 : 0x1p-23;

// Rounds without progress before the run counts as stalled.
constexpr int kPatience = 8;

// Single precision within a set rounds each number by this part of itself.  It serves while its errors are
// below this share of the tolerance, for tolerances and diagonals in this range.
constexpr double kFloatRounding = 0x1p-24, kCoarseShare = 0.1, kLeastCoarse = 1e-9, kMostCoarse = 1e9;

constexpr double kSecondsPerWatch = 0.05;

// Columns that one thread carries over at a time; they stay in the first cache.
constexpr Index kColumns = 2048;

}  // namespace

template <class T>
Smo<T>::Smo(QuadraticProblem problem, RowCache<T> cache, const double* beta, const double* grad, int threads)
    : p_(problem), cache_(std::move(cache)), threads_(threads), padded_(padded(p_.n)) {
  set_.place.assign(static_cast<std::size_t>(p_.n), -1);
  restart(beta, grad);
}

template <class T>
Smo<T>::Smo(QuadraticProblem problem, T* K, Make make, const double* beta, const double* grad)
    : p_(problem),
      cache_(K, row_stride(problem.n), problem.n),
      make_(std::move(make)),
      threads_(1),
      padded_(padded(problem.n)),
      size_(problem.n),
      whole_(true) {
  set_.place.assign(static_cast<std::size_t>(p_.n), -1);
  set_.resize(p_.n, p_.groups());
  set_.K = K;
  for (Index i = 0; i < p_.n; ++i) set_.enter(i, i);
  restart(beta, grad);
}

template <class T>
void Smo<T>::restart(const double* beta, const double* grad) {
  beta_.assign(beta, beta + p_.n);
  idle_ = 0;
  least_ = kInfinity;
  grad_.assign(static_cast<std::size_t>(padded_), 0.0);
  std::copy_n(grad, p_.n, grad_.begin());
  up_.assign(static_cast<std::size_t>(padded_ * p_.groups()), -kInfinity);
  down_.assign(static_cast<std::size_t>(padded_ * p_.groups()), kInfinity);
  for (Index i = 0; i < p_.n; ++i)
    set_rates(p_, beta_[i], p_.low[i], p_.high[i], &up_[i], &down_[i], padded_);
}

// Calls work(first, last) for some columns at a time.
template <class T>
template <class Work>
void Smo<T>::over_columns(const Work& work) const {
  Index pieces = (p_.n + kColumns - 1) / kColumns;
#pragma omp parallel for schedule(dynamic) num_threads(threads_) if (threads_ > 1 && pieces > 1)
  for (Index piece = 0; piece < pieces; ++piece)
    work(piece * kColumns, std::min(p_.n, (piece + 1) * kColumns));
}

template <class T>
double Smo<T>::recompute() {
  std::vector<const T*> rows;
  std::vector<double> factors, sizes(static_cast<std::size_t>(p_.n), 0.0);
  for (Index i = 0; i < p_.n; ++i) {
    if (beta_[i] == 0.0) continue;
    if (cache_.slot[i] < 0) return -1.0;
    rows.push_back(make_ ? row_of(i) : cache_[i]);
    factors.push_back(beta_[i]);
  }
  std::copy_n(p_.linear, p_.n, grad_.begin());
  over_columns([&](Index first, Index last) {
    table().tiles<T>().weigh_rows(std::ssize(rows), rows.data(), factors.data(), first, last, grad_.data(),
                                  sizes.data());
  });
  return sizes.empty() ? 0.0 : *std::max_element(sizes.begin(), sizes.end());
}

template <class T>
void Smo<T>::extremes(Extremes* e) const {
  for (int g = 0; g < p_.groups(); ++g)
    e[g] =
        table().f64.scans.extremes(p_.n, grad_.data(), up_.data() + g * padded_, down_.data() + g * padded_);
}

template <class T>
double Smo<T>::violation() const {
  Extremes e[2];
  extremes(e);
  return violation_of(p_, e);
}

// Whether single precision can serve within the set: the gradient is rounded by far less than the tolerance,
// and no square of a violation or product of a curvature leaves the range of float.
template <class T>
bool Smo<T>::is_coarse(double tolerance) const {
  if (precise_ || tolerance < kLeastCoarse) return false;
  for (Index i : set_.member)
    if (std::abs(grad_[i]) * kFloatRounding > kCoarseShare * tolerance || !(p_.diagonal[i] <= kMostCoarse))
      return false;
  return true;
}

template <class T>
template <class S>
void Smo<T>::enter_state(State<S>& state) {
  for (Index a = 0; a < std::ssize(set_.member); ++a) {
    Index i = set_.member[a];
    state.grad[a] = static_cast<S>(grad_[i]);
    state.diagonal[a] = static_cast<S>(p_.diagonal[i]);
    for (int g = 0; g < p_.groups(); ++g) {
      state.up[a + g * set_.stride] = static_cast<S>(up_[i + g * padded_]);
      state.down[a + g * set_.stride] = static_cast<S>(down_[i + g * padded_]);
    }
  }
}

// Iterations within the set, in the precision that the tolerance of the whole run allows, and what they
// change.
template <class T>
Ending Smo<T>::improve(double goal, double tolerance, Index most) {
  const Tiles<T>& tiles = table().tiles<T>();
  if constexpr (sizeof(T) == sizeof(float))
    if (is_coarse(tolerance)) {
      if (whole_) goal -= kCoarseShare * tolerance;
      Ending ending = descend(set_.coarse, tiles.coarse_scans, goal, most);
      carry_over();
      precise_ = ending == kStalled || drift() > kCoarseShare * tolerance;
      return ending == kStalled ? kLimit : ending;  // there are digits left to try
    }
  Ending ending = descend(set_.state, tiles.scans, goal, most);
  carry_over();
  return ending;
}

// Two-variable steps within the set, until the violation there is at most the tolerance.
template <class T>
template <class S>
Ending Smo<T>::descend(State<S>& state, const Scans<T, S>& scans, double tolerance, Index most) {
  WorkingSet& set = set_;
  enter_state(state);
  Index stride = set.stride, count = std::ssize(set.member);
  Extremes e[2];
  for (int g = 0; g < p_.groups(); ++g)
    e[g] = scans.extremes(count, state.grad.data(), state.up.data() + g * stride,
                          state.down.data() + g * stride);
  for (Index step = 0; step < most; ++step, ++iterations_) {
    double worst = violation_of(p_, e), rate = worst;
    if (!std::isfinite(worst)) return kNotFinite;
    if (worst <= tolerance) return kConverged;
    int g = p_.groups() == 2 && e[1].high - e[1].low > e[0].high - e[0].low ? 1 : 0;

    // beta_i moves by `sign`, beta_j against it; without a constraint beta_i moves alone.
    Index i = e[g].up, j = -1;
    double sign = 1.0, own = p_.diagonal[set.member[i]], scale = own, curvature = own;
    if (p_.constraint != kFree) {
      const T* row = row_of(i);
      double least = std::max(kLeastCurvature<T> * own, std::numeric_limits<double>::min());
      j = scans.partner(count, state.grad.data(), state.down.data() + g * stride, row, state.diagonal.data(),
                        e[g].high, own, least);
      if (j < 0) return kStalled;
      rate = e[g].high - static_cast<double>(state.down[j + g * stride] - state.grad[j]);
      scale = own + p_.diagonal[set.member[j]];
      curvature = scale - 2.0 * static_cast<double>(row[j]);
    } else if (e[0].high < -e[0].low) {
      i = e[0].down;
      sign = -1.0;
      scale = curvature = p_.diagonal[set.member[i]];
    }
    double floor = std::max(kLeastCurvature<T> * scale, std::numeric_limits<double>::min());
    bool flat = curvature <= floor;
    curvature = std::max(curvature, floor);

    // To the minimum along the line, but not past a bound, nor past zero, where the rate changes.
    double bi = set.beta[i], end_i = sign * bi < 0.0 ? 0.0 : (sign > 0.0 ? set.high[i] : set.low[i]);
    double bj = j < 0 ? 0.0 : set.beta[j], end_j = j < 0 ? -kInfinity : (bj > 0.0 ? 0.0 : set.low[j]);
    double room_i = std::abs(end_i - bi), room_j = bj - end_j;
    double length = std::min({rate / curvature, room_i, room_j});
    if (!std::isfinite(length) || (flat && std::isinf(room_i) && std::isinf(room_j))) return kUnbounded;
    set.gain += length * (rate - 0.5 * curvature * length);
    set.beta[i] = length == room_i ? end_i : bi + sign * length;
    set_rates(p_, set.beta[i], set.low[i], set.high[i], &state.up[i], &state.down[i], stride);
    const T *first = row_of(i), *second = first;
    double change_j = 0.0;
    if (j >= 0) {
      set.beta[j] = length == room_j ? end_j : bj - length;
      set_rates(p_, set.beta[j], set.low[j], set.high[j], &state.up[j], &state.down[j], stride);
      change_j = set.beta[j] - bj;
      second = row_of(j);
    }
    e[0] = scans.advance(count, state.grad.data(), first, set.beta[i] - bi, second, change_j, state.up.data(),
                         state.down.data());
    if (p_.groups() == 2)
      e[1] = scans.extremes(count, state.grad.data(), state.up.data() + stride, state.down.data() + stride);
  }
  return kLimit;
}

template <class T>
void Smo<T>::carry_over() {
  std::vector<const T*> rows;
  std::vector<double> factors;
  for (Index a = 0; a < std::ssize(set_.member); ++a) {
    Index i = set_.member[a];
    if (set_.beta[a] == beta_[i]) continue;
    rows.push_back(make_ ? row_of(a) : cache_[i]);
    factors.push_back(set_.beta[a] - beta_[i]);
    beta_[i] = set_.beta[a];
    set_rates(p_, beta_[i], p_.low[i], p_.high[i], &up_[i], &down_[i], padded_);
  }
  if (whole_ && (precise_ || sizeof(T) == sizeof(double))) {  // the set knows the gradient of all variables
    std::copy_n(set_.state.grad.begin(), p_.n, grad_.begin());
    return;
  }
  over_columns([&](Index first, Index last) {
    table().tiles<T>().add_rows(std::ssize(rows), rows.data(), factors.data(), first, last, grad_.data());
  });
}

// By how much the gradient within the set differs, after a round in single precision, from that in double.
template <class T>
double Smo<T>::drift() const {
  double most = 0.0;
  for (Index a = 0; a < std::ssize(set_.member); ++a)
    most = std::max(most, std::abs(static_cast<double>(set_.coarse.grad[a]) - grad_[set_.member[a]]));
  return most;
}

template <class T>
Ending Smo<T>::run(double tolerance, Index max_iterations, const Fetch& fetch, const Watch& watch) {
  using Clock = std::chrono::steady_clock;
  auto last_watch = Clock::now();
  constexpr Index most = std::numeric_limits<Index>::max();
  Index end = max_iterations > most - iterations_ ? most : iterations_ + max_iterations;
  std::vector<Index> rows, slots;
  Extremes e[2];
  for (;; ++rounds_) {
    extremes(e);
    double worst = violation_of(p_, e);
    bool finite = std::isfinite(worst);
    if (finite && worst <= tolerance)  // scans skip NaN, which the objective shows
      return std::isfinite(objective_of(p_, beta_.data(), grad_.data())) ? kConverged : kNotFinite;
    if (!finite) return kNotFinite;
    if (worst < least_) least_ = worst, idle_ = 0;  // progress that is too small for the objective to show
    if (iterations_ >= end) return kLimit;
    if (std::chrono::duration<double>(Clock::now() - last_watch).count() > kSecondsPerWatch) {
      if (watch(iterations_, worst)) return kStopped;
      last_watch = Clock::now();
    }
    choose(e);
    cache_.reserve(set_.member, rows, slots);
    try {
      if (!rows.empty()) fetch(rows, slots);
    } catch (...) {
      cache_.forget(slots);
      throw;
    }
    collect();
    double goal = whole_ ? tolerance : std::max(kInnerShare * worst, 0.5 * tolerance);
    Ending ending = improve(goal, tolerance, std::min(kInnerIterations, end - iterations_));
    if (ending == kUnbounded || ending == kNotFinite) return ending;
    double objective = objective_of(p_, beta_.data(), grad_.data());
    idle_ = set_.gain <= 4.0 * std::numeric_limits<double>::epsilon() * std::abs(objective) ? idle_ + 1 : 0;
    if (idle_ >= kPatience) return kStalled;
  }
}

template class Smo<float>;
template class Smo<double>;

}  // namespace mercer
