#include "decomposition.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "dispatch.hpp"

namespace mercer {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Inner steps between two looks at the clock and at all of f.
constexpr Index kInnerSteps = 20000;

// An outer step ends when the violation within the set has fallen to this part of what it was.
constexpr double kInnerShare = 0.2;

// Curvatures below this part of K_ii + K_jj count as this: two points are the same, or K is indefinite.  In
// single precision they are no more than rounding there.
template <class T>
constexpr double kLeastCurvature = sizeof(T) == sizeof(double) ? 1e-12 : 0x1p-23;

// Outer steps without progress before the run counts as stalled.
constexpr int kPatience = 8;

// Single precision within a set rounds each number by this part of itself.  It serves while its errors are
// below this share of the tolerance, for tolerances and diagonals in this range.
constexpr double kFloatRounding = 0x1p-24, kCoarseShare = 0.1, kLeastCoarse = 1e-9, kMostCoarse = 1e9;

constexpr double kSecondsPerWatch = 0.05;

// Columns that one thread carries over at a time; they stay in the first cache.
constexpr Index kColumns = 2048;

// The offsets of one variable in each group: how up and down differ from -f, infinite where it may not move.
struct Offsets {
  Constraint constraint;
  double width;

  template <class S>
  void operator()(double b, double low, double high, S* up, S* down, Index stride) const {
    constexpr S infinity = std::numeric_limits<S>::infinity();
    bool grows = b<high, shrinks = b> low;
    if (constraint != kSigned) {
      up[0] = grows ? static_cast<S>(b >= 0.0 ? -width : width) : -infinity;
      down[0] = shrinks ? static_cast<S>(b > 0.0 ? -width : width) : infinity;
      return;
    }
    up[0] = grows && b >= 0.0 ? S(0) : -infinity;
    down[0] = b > 0.0 ? S(0) : infinity;
    up[stride] = b < 0.0 ? S(0) : -infinity;
    down[stride] = shrinks && b <= 0.0 ? S(0) : infinity;
  }
};

}  // namespace

template <class T>
Decomposition<T>::Decomposition(QuadraticProblem problem, RowCache<T> cache, const Index* columns,
                                const double* b, const double* f, int threads)
    : p_(problem), cache_(std::move(cache)), columns_(columns), threads_(threads), padded_(padded(p_.n)) {
  in_.place.assign(static_cast<std::size_t>(p_.n), -1);
  for (Index i = 0; i < p_.n; ++i)
    if (runs_.empty() || column(i) != runs_.back().from + runs_.back().length)
      runs_.push_back({i, column(i), 1});
    else
      ++runs_.back().length;
  restart(b, f);
}

template <class T>
Decomposition<T>::Decomposition(QuadraticProblem problem, T* K, Make make, const double* b, const double* f)
    : p_(problem),
      cache_(K, row_stride(problem.n), nullptr, problem.n),
      columns_(nullptr),
      make_(std::move(make)),
      runs_{{0, 0, problem.n}},
      threads_(1),
      padded_(padded(problem.n)),
      size_(problem.n),
      whole_(true) {
  in_.place.assign(static_cast<std::size_t>(p_.n), -1);
  in_.resize(p_.n, groups());
  in_.K = K;
  in_.lacks.assign(static_cast<std::size_t>(p_.n), true);
  for (Index i = 0; i < p_.n; ++i) in_.enter(i, i, i);
  in_.fresh.clear();
  restart(b, f);
}

template <class T>
void Decomposition<T>::restart(const double* b, const double* f) {
  if (in_.K == nullptr && !whole_) {  // values are to be computed anyway, and other variables may matter now
    in_.clear();
    size_ = 0;
  }
  b_.assign(b, b + p_.n);
  idle_ = 0;
  least_ = kInfinity;
  f_.assign(static_cast<std::size_t>(padded_), 0.0);
  std::copy_n(f, p_.n, f_.begin());
  up_.assign(static_cast<std::size_t>(padded_ * groups()), -kInfinity);
  down_.assign(static_cast<std::size_t>(padded_ * groups()), kInfinity);
  Offsets offsets{p_.constraint, p_.width};
  for (Index i = 0; i < p_.n; ++i) offsets(b_[i], p_.low[i], p_.high[i], &up_[i], &down_[i], padded_);
}

template <class T>
double Decomposition<T>::recompute() {
  std::vector<const T*> rows;
  std::vector<double> factors, sizes(static_cast<std::size_t>(p_.n), 0.0);
  for (Index i = 0; i < p_.n; ++i) {
    if (b_[i] == 0.0) continue;
    if (cache_.slot[i] < 0) return -1.0;
    rows.push_back(make_ ? row_of(i) : cache_[i]);
    factors.push_back(b_[i]);
  }
  std::copy_n(p_.linear, p_.n, f_.begin());
  over_columns(rows, [&](Index first, Index last) {
    table().tiles<T>().weigh_rows(std::ssize(rows), rows.data(), factors.data(), first, last, f_.data(),
                                  sizes.data());
  });
  return sizes.empty() ? 0.0 : *std::max_element(sizes.begin(), sizes.end());
}

template <class T>
Quality Decomposition<T>::quality() const {
  Extremes e[2];
  extremes(e);
  Quality q{violation_of(e), {0.0, 0.0}, objective(), 0.0};
  for (int g = 0; g < groups() && p_.constraint != kFree; ++g) {
    // What free variables say on average, else the middle of what is possible.
    const double *up = up_.data() + g * padded_, *down = down_.data() + g * padded_;
    double sum = 0.0;
    Index count = 0;
    for (Index i = 0; i < p_.n; ++i)
      if (up[i] == down[i]) sum += up[i] - f_[i], ++count;
    if (count > 0)
      q.offset[g] = sum / static_cast<double>(count);
    else if (std::isfinite(e[g].high) || std::isfinite(e[g].low))
      q.offset[g] = !std::isfinite(e[g].high)  ? e[g].low
                    : !std::isfinite(e[g].low) ? e[g].high
                                               : (e[g].high + e[g].low) / 2;
  }
  double above = q.offset[0], below = groups() == 2 ? q.offset[1] : above;
  for (Index i = 0; i < p_.n; ++i) {
    double positive = f_[i] + above + p_.width, negative = f_[i] + below - p_.width;
    double least =
        std::min(positive < 0.0 ? positive * p_.high[i] : 0.0, negative > 0.0 ? negative * p_.low[i] : 0.0);
    double here = (b_[i] > 0.0 ? positive : negative) * b_[i];
    q.gap += std::max(here - least, 0.0);
  }
  return q;
}

template <class T>
double Decomposition<T>::objective() const {
  double sum = 0.0;
  for (Index i = 0; i < p_.n; ++i) sum += b_[i] * 0.5 * (f_[i] + p_.linear[i]) + p_.width * std::abs(b_[i]);
  return sum;
}

template <class T>
double Decomposition<T>::violation_of(const Extremes* e) const {
  if (p_.constraint == kFree) return std::max({e->high, -e->low, 0.0});
  double most = 0.0;
  for (int g = 0; g < groups(); ++g) most = std::max(most, e[g].high - e[g].low);
  return most;
}

template <class T>
void Decomposition<T>::extremes(Extremes* e) const {
  for (int g = 0; g < groups(); ++g)
    e[g] = table().f64.scans.extremes(p_.n, f_.data(), up_.data() + g * padded_, down_.data() + g * padded_);
}

template <class T>
double Decomposition<T>::violation(double* high, double* low) const {
  Extremes e[2];
  extremes(e);
  for (int g = 0; g < groups(); ++g) high[g] = e[g].high, low[g] = e[g].low;
  return violation_of(e);
}

// Whether single precision can serve within the set: f is rounded by far less than the tolerance, and no
// square of a violation or product of a curvature leaves the range of float.
template <class T>
bool Decomposition<T>::is_coarse(double tolerance) const {
  if (precise_ || tolerance < kLeastCoarse) return false;
  for (Index i : in_.member)
    if (std::abs(f_[i]) * kFloatRounding > kCoarseShare * tolerance || !(p_.diagonal[i] <= kMostCoarse))
      return false;
  return true;
}

template <class T>
template <class S>
void Decomposition<T>::enter_state(State<S>& state) {
  for (Index a = 0; a < std::ssize(in_.member); ++a) {
    Index i = in_.member[a];
    state.f[a] = static_cast<S>(f_[i]);
    state.diagonal[a] = static_cast<S>(p_.diagonal[i]);
    for (int g = 0; g < groups(); ++g) {
      state.up[a + g * in_.width] = static_cast<S>(up_[i + g * padded_]);
      state.down[a + g * in_.width] = static_cast<S>(down_[i + g * padded_]);
    }
  }
}

// Steps within the set, in the precision that the tolerance of the whole run allows, and what they change.
template <class T>
Ending Decomposition<T>::improve(double goal, double tolerance, Index most) {
  const Tiles<T>& tiles = table().tiles<T>();
  if constexpr (sizeof(T) == sizeof(float))
    if (is_coarse(tolerance)) {
      if (whole_) goal -= kCoarseShare * tolerance;
      Ending ending = descend(in_.coarse, tiles.coarse_scans, goal, most);
      carry_over();
      precise_ = ending == kStalled || drift() > kCoarseShare * tolerance;
      return ending == kStalled ? kLimit : ending;  // there are digits left to try
    }
  Ending ending = descend(in_.state, tiles.scans, goal, most);
  whole_ ? carry_over_all() : carry_over();
  return ending;
}

// Two-variable steps within the set, until the violation there is at most the tolerance.
template <class T>
template <class S>
Ending Decomposition<T>::descend(State<S>& state, const Scans<T, S>& scans, double tolerance, Index most) {
  Inner& in = in_;
  enter_state(state);
  const Offsets offsets{p_.constraint, p_.width};
  Index w = in.width, count = std::ssize(in.member);
  Extremes e[2];
  for (int g = 0; g < groups(); ++g)
    e[g] = scans.extremes(count, state.f.data(), state.up.data() + g * w, state.down.data() + g * w);
  for (Index step = 0; step < most; ++step, ++steps_) {
    double worst = violation_of(e), rate = worst;
    if (!std::isfinite(worst)) return kNotFinite;
    if (worst <= tolerance) return kConverged;
    int g = groups() == 2 && e[1].high - e[1].low > e[0].high - e[0].low ? 1 : 0;

    // b_i moves by `sign`, b_j against it; without a constraint b_i moves alone.
    Index i = e[g].up, j = -1;
    double sign = 1.0, own = p_.diagonal[in.member[i]], scale = own, curvature = own;
    if (p_.constraint != kFree) {
      const T* row = row_of(i);
      double least = std::max(kLeastCurvature<T> * own, std::numeric_limits<double>::min());
      j = scans.partner(count, state.f.data(), state.down.data() + g * w, row, state.diagonal.data(),
                        e[g].high, own, least);
      if (j < 0) return kStalled;
      rate = e[g].high - static_cast<double>(state.down[j + g * w] - state.f[j]);
      scale = own + p_.diagonal[in.member[j]];
      curvature = scale - 2.0 * static_cast<double>(row[j]);
    } else if (e[0].high < -e[0].low) {
      i = e[0].down;
      sign = -1.0;
      scale = curvature = p_.diagonal[in.member[i]];
    }
    double floor = std::max(kLeastCurvature<T> * scale, std::numeric_limits<double>::min());
    bool flat = curvature <= floor;
    curvature = std::max(curvature, floor);

    // As far as pays, but not past a bound, nor past zero, where the rate changes.
    double bi = in.b[i], end_i = sign * bi < 0.0 ? 0.0 : (sign > 0.0 ? in.high[i] : in.low[i]);
    double bj = j < 0 ? 0.0 : in.b[j], end_j = j < 0 ? -kInfinity : (bj > 0.0 ? 0.0 : in.low[j]);
    double room_i = std::abs(end_i - bi), room_j = bj - end_j;
    double length = std::min({rate / curvature, room_i, room_j});
    if (!std::isfinite(length) || (flat && std::isinf(room_i) && std::isinf(room_j))) return kUnbounded;
    in.gain += length * (rate - 0.5 * curvature * length);
    in.b[i] = length == room_i ? end_i : bi + sign * length;
    offsets(in.b[i], in.low[i], in.high[i], &state.up[i], &state.down[i], w);
    const T *first = row_of(i), *second = first;
    double change_j = 0.0;
    if (j >= 0) {
      in.b[j] = length == room_j ? end_j : bj - length;
      offsets(in.b[j], in.low[j], in.high[j], &state.up[j], &state.down[j], w);
      change_j = in.b[j] - bj;
      second = row_of(j);
    }
    e[0] = scans.advance(count, state.f.data(), first, in.b[i] - bi, second, change_j, state.up.data(),
                         state.down.data());
    if (groups() == 2)
      e[1] = scans.extremes(count, state.f.data(), state.up.data() + w, state.down.data() + w);
  }
  return kLimit;
}

// If the set has all variables, in double precision, it knows everything.
template <class T>
void Decomposition<T>::carry_over_all() {
  const Inner& in = in_;
  std::copy_n(in.b.begin(), p_.n, b_.begin());
  std::copy_n(in.state.f.begin(), p_.n, f_.begin());
  for (int g = 0; g < groups(); ++g) {
    std::copy_n(in.state.up.begin() + g * in.width, p_.n, up_.begin() + g * padded_);
    std::copy_n(in.state.down.begin() + g * in.width, p_.n, down_.begin() + g * padded_);
  }
}

template <class T>
void Decomposition<T>::carry_over() {
  const Inner& in = in_;
  const Offsets offsets{p_.constraint, p_.width};
  std::vector<const T*> rows;
  std::vector<double> factors;
  for (Index a = 0; a < std::ssize(in.member); ++a) {
    Index i = in.member[a];
    if (in.b[a] == b_[i]) continue;
    rows.push_back(cache_[i]);
    factors.push_back(in.b[a] - b_[i]);
    b_[i] = in.b[a];
    offsets(b_[i], p_.low[i], p_.high[i], &up_[i], &down_[i], padded_);
  }
  over_columns(rows, [&](Index first, Index last) {
    table().tiles<T>().add_rows(std::ssize(rows), rows.data(), factors.data(), first, last, f_.data());
  });
}

// By how much f within the set differs, after a round in single precision, from f in double precision.
template <class T>
double Decomposition<T>::drift() const {
  double most = 0.0;
  for (Index a = 0; a < std::ssize(in_.member); ++a)
    most = std::max(most, std::abs(static_cast<double>(in_.coarse.f[a]) - f_[in_.member[a]]));
  return most;
}

// Calls work(first, last) for some columns at a time, run after run of neighbours; there, rows[r] + j is
// where variable j is in row r.
template <class T>
template <class Work>
void Decomposition<T>::over_columns(std::vector<const T*>& rows, const Work& work) {
  Index shift = 0;
  for (const Run& run : runs_) {
    for (const T*& row : rows) row += run.from - run.at - shift;
    shift = run.from - run.at;
    Index pieces = (run.length + kColumns - 1) / kColumns, end = run.at + run.length;
#pragma omp parallel for schedule(dynamic) num_threads(threads_) if (threads_ > 1 && pieces > 1)
    for (Index piece = 0; piece < pieces; ++piece) {
      Index first = run.at + piece * kColumns;
      work(first, std::min(end, first + kColumns));
    }
  }
}

template <class T>
Ending Decomposition<T>::run(double tolerance, Index most_steps, const Fetch& fetch, const Watch& watch) {
  using Clock = std::chrono::steady_clock;
  auto last_watch = Clock::now();
  Index end = most_steps > std::numeric_limits<Index>::max() - steps_ ? std::numeric_limits<Index>::max()
                                                                      : steps_ + most_steps;
  std::vector<Index> rows, slots;
  Extremes e[2];
  for (;; ++rounds_) {
    extremes(e);
    double worst = violation_of(e);
    if (!std::isfinite(worst)) return kNotFinite;
    if (worst <= tolerance) return std::isfinite(objective()) ? kConverged : kNotFinite;  // scans skip NaN
    if (worst < least_) least_ = worst, idle_ = 0;  // progress that is too small for the objective to show
    if (steps_ >= end) return kLimit;
    if (stopped_) return kStopped;
    if (std::chrono::duration<double>(Clock::now() - last_watch).count() > kSecondsPerWatch) {
      if (watch(steps_, worst)) return kStopped;
      last_watch = Clock::now();
    }
    choose(e);
    cache_.reserve(in_.member, rows, slots);
    try {
      if (!rows.empty()) fetch(rows, slots);
    } catch (...) {
      cache_.forget(slots);
      throw;
    }
    collect();
    double goal = whole_ ? tolerance : std::max(kInnerShare * worst, 0.5 * tolerance);
    Ending ending = improve(goal, tolerance, std::min(kInnerSteps, end - steps_));
    if (ending == kUnbounded || ending == kNotFinite) return ending;
    idle_ = in_.gain <= 4.0 * std::numeric_limits<double>::epsilon() * std::abs(objective()) ? idle_ + 1 : 0;
    if (idle_ >= kPatience) return kStalled;
  }
}

template class Decomposition<float>;
template class Decomposition<double>;

}  // namespace mercer
