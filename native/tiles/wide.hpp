// Numbers >= 0 beyond the range of doubles: m 2^e with a whole number e >= 0, one per lane.
//
// Where e is 0, m is any double; else 1 <= m < 2 after `normalized`.  Sums lose what is smaller than 2^-500
// of them: denormal numbers would be slow.
#pragma once

#include "simd.hpp"

namespace mercer::MERCER_TILES {
namespace {

constexpr double kWholeNumbers = 4503599627370496.0;  // 2^52: in the last bits of 2^52 + k stands k

// 2^k for whole numbers -1022 <= k <= 1023.
MERCER_INLINE Vec power_of_two(Vec k) { return from_bits(bits(k + splat(kWholeNumbers + 1023.0)) << 52); }

// 2^k for whole numbers k <= 0, and 0 if k < -500.
MERCER_INLINE Vec fading(Vec k) { return k < -500.0 ? splat(0.0) : power_of_two(k); }

// The k with 2^k <= a < 2^(k+1), for normal numbers a > 0.
MERCER_INLINE Vec exponent_of(Vec a) {
  return from_bits((bits(a) >> 52) | bits(splat(kWholeNumbers))) - splat(kWholeNumbers + 1023.0);
}

// The exponent that a number m 2^e is to have.
MERCER_INLINE Vec normalized_exponent(Vec m, Vec e) {
  Vec zero = splat(0.0);
  return m > 0.0 ? larger(e + exponent_of(m), zero) : zero;
}

// The factor that takes m from exponent e to the one it is to have: at most 2^1023 unless m is zero.
MERCER_INLINE Vec normalizing_factor(Vec e, Vec normalized_e) {
  return power_of_two(smaller(e - normalized_e, splat(1023.0)));
}

struct Wide {
  Vec m, e;
};

MERCER_INLINE Wide operator+(Wide a, Wide b) {
  Vec e = larger(a.e, b.e);
  return {muladd(a.m, fading(a.e - e), b.m * fading(b.e - e)), e};
}
MERCER_INLINE Wide normalized(Wide a) {
  Vec e = normalized_exponent(a.m, a.e);
  return {a.m * normalizing_factor(a.e, e), e};
}

// What recursions do with either kind of number.
template <class N>
struct Numbers;

template <>
struct Numbers<Vec> {
  static constexpr Index kSize = kLanes;  // doubles in memory
  static MERCER_INLINE Vec zero() { return splat(0.0); }
  static MERCER_INLINE Vec one() { return splat(1.0); }
  static MERCER_INLINE Vec read(const double* p) { return load(p); }
  static MERCER_INLINE void write(double* p, Vec a) { store(p, a); }
  static MERCER_INLINE Vec where_equal(Vec a, Vec x, Vec y) { return x == y ? a : splat(0.0); }
  static MERCER_INLINE Vec sum(Vec a, Vec b) { return a + b; }
  static MERCER_INLINE Vec decayed_sum(Vec decay, Vec a, Vec b) { return muladd(decay, a, b); }
};

template <>
struct Numbers<Wide> {
  static constexpr Index kSize = 2 * kLanes;
  static MERCER_INLINE Wide zero() { return {splat(0.0), splat(0.0)}; }
  static MERCER_INLINE Wide one() { return {splat(1.0), splat(0.0)}; }
  static MERCER_INLINE Wide read(const double* p) { return {load(p), load(p + kLanes)}; }
  static MERCER_INLINE void write(double* p, Wide a) {
    store(p, a.m);
    store(p + kLanes, a.e);
  }
  static MERCER_INLINE Wide where_equal(Wide a, Vec x, Vec y) {
    return {x == y ? a.m : splat(0.0), x == y ? a.e : splat(0.0)};
  }
  static MERCER_INLINE Wide sum(Wide a, Wide b) { return normalized(a + b); }
  static MERCER_INLINE Wide decayed_sum(Vec decay, Wide a, Wide b) {
    return normalized(Wide{decay * a.m, a.e} + b);
  }
};

}  // namespace
}  // namespace mercer::MERCER_TILES
