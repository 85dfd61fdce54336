// The four semirings, as types with static functions; docs in mercer/automata/semirings.py.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace mercer::automata {

using Index = std::int64_t;
using State = std::int32_t;
using Label = std::int32_t;

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// `converges(a, scale, slack)` says whether 1 + a + aa + ... has a sum, which is `star(a)`; `slack` is the
// rounding error to allow for in a, relative to 1 or to the largest weight, `scale`.
struct Real {
  static constexpr double zero = 0.0, one = 1.0;
  static constexpr bool idempotent = false;
  static double plus(double a, double b) { return a + b; }
  static double times(double a, double b) { return a * b; }
  static bool converges(double a, double, double slack) { return std::abs(a) < 1.0 - slack; }
  static double star(double a) { return 1.0 / (1.0 - a); }
};

struct Log {
  static constexpr double zero = kInfinity, one = 0.0;
  static constexpr bool idempotent = false;
  static double plus(double a, double b) {
    double low = std::min(a, b), high = std::max(a, b);
    return high == kInfinity ? low : low - std::log1p(std::exp(low - high));
  }
  static double times(double a, double b) { return a + b; }
  static bool converges(double a, double, double slack) { return a > slack; }
  static double star(double a) { return std::log(-std::expm1(-a)); }
};

struct Tropical {
  static constexpr double zero = kInfinity, one = 0.0;
  static constexpr bool idempotent = true;
  static double plus(double a, double b) { return std::min(a, b); }
  static double times(double a, double b) { return a + b; }
  static bool converges(double a, double scale, double slack) { return a >= -scale * slack; }
  static double star(double) { return one; }
};

struct Boolean {
  static constexpr double zero = 0.0, one = 1.0;
  static constexpr bool idempotent = true;
  static double plus(double a, double b) { return std::max(a, b); }
  static double times(double a, double b) { return a * b; }
  static bool converges(double, double, double) { return true; }
  static double star(double) { return one; }
};

// Calls work with the type of a semiring; the numbers are those of semirings.py.
template <class Work>
auto with_semiring(int code, Work&& work) {
  switch (code) {
    case 1:
      return work(Log{});
    case 2:
      return work(Tropical{});
    case 3:
      return work(Boolean{});
    default:
      return work(Real{});
  }
}

}  // namespace mercer::automata
