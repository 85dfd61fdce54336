// exp, log1p, tanh and real powers (of exponents up to 64) of vectors of doubles, within 4 ulp everywhere:
// tests/engine/test_functions.py measures them against mpmath.  Infinities, NaN, subnormal numbers and
// overflow come out as the C library has them.  They take a Vec or a single double.
#pragma once

#include "terms.hpp"

namespace mercer::MERCER_TILES {
namespace {

#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
// a b - c, exactly, where c is a b rounded.
template <class V>
MERCER_INLINE V product_error(V a, V b, V c) {
  return muladd(a, b, -c);
}
#else
// Dekker: halves of 26 bits, whose products are exact.
template <class V>
MERCER_INLINE V upper_half(V a) {
  V t = a * 134217729.0;
  return t - (t - a);
}
template <class V>
MERCER_INLINE V product_error(V a, V b, V c) {
  V a_high = upper_half(a), a_low = a - a_high, b_high = upper_half(b), b_low = b - b_high;
  return ((a_high * b_high - c) + a_high * b_low + a_low * b_high) + a_low * b_low;
}
#endif

template <class V>
MERCER_INLINE V rounded(V a) {
  return (a + 0x1.8p52) - 0x1.8p52;
}

// 2^n for a whole number n of the exponents of normal numbers.
template <class V>
MERCER_INLINE V power_of_two(V n) {
  return from_bits((bits(n + 0x1.8p52) + 1023) << 52);
}

// The terms r^k / (k + 2)! by Horner's rule, from the last to the first.
template <int k, class V>
MERCER_INLINE V exp_series(V r, V sum, double factorial) {
  if constexpr (k < 0)
    return sum;
  else
    return exp_series<k - 1>(r, muladd(sum, r, constant<V>(1.0 / factorial)), factorial / (k + 2));
}

// y 2^n for a whole number n between -1080 and 1030, rounded once.
template <class V>
MERCER_INLINE V times_power_of_two(V y, V n) {
  V half = rounded(n * 0.5);  // in two steps, for 2^n itself may not be a normal number
  return y * power_of_two(half) * power_of_two(n - half);
}
#if defined(__AVX512F__)
MERCER_INLINE Vec times_power_of_two(Vec y, Vec n) { return _mm512_scalef_pd(y, n); }
#endif

// x = n log 2 + r with a whole number n and |r| < 0.35.
template <class V>
MERCER_INLINE void split(V x, V& n, V& r) {
  constexpr double ln2_high = 0x1.62e42fefa38p-1, ln2_low = 0x1.ef35793c7673p-45;
  n = rounded(x * 0x1.71547652b82fep0);
  r = muladd(n, constant<V>(-ln2_low), muladd(n, constant<V>(-ln2_high), x));
}

// exp(r) - 1 for |r| < 0.35, with a small relative error.
template <class V>
MERCER_INLINE V exp_minus_one(V r) {
  return muladd(r * r, exp_series<10>(r, constant<V>(1.0 / 6227020800.0), 479001600.0),
                r);  // 13! is the last
}

// Beyond this, exp is zero.  Such numbers are left out, for to make subnormal numbers takes very long.
constexpr double kVanishes = -745.1332191019412;

template <class V>
MERCER_INLINE V exponential(V x) {
  V n, r;
  auto vanishes = x < kVanishes;
  split(vanishes ? V{} : smaller(constant<V>(710.0), x), n, r);  // in this order NaN stays
  V y = times_power_of_two(1.0 + exp_minus_one(r), n);
  return vanishes ? V{} : y;
}

#if defined(__AVX512F__)
// 2^(j / 16) for whole numbers j < 16.
const Vec kSixteenthsLow = {0x1.0000000000000p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0,
                            0x1.2387a6e756238p+0, 0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0,
                            0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0};
const Vec kSixteenthsHigh = {0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0,
                             0x1.9c49182a3f090p+0, 0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0,
                             0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0};

// The same with a table: x = (n + j / 16) log 2 + r with whole numbers n and j < 16, and |r| < 0.022, for
// which a short series does.
MERCER_INLINE Vec exponential(Vec x) {
  constexpr double ln2_high = 0x1.62e42fefa38p-5, ln2_low = 0x1.ef35793c7673p-49;  // of log(2) / 16
  __mmask8 remains = _mm512_cmp_pd_mask(x, splat(kVanishes), _CMP_NLT_UQ);
  x = smaller(splat(710.0), x);
  Vec shifted = muladd(x, splat(0x1.71547652b82fep4), splat(0x1.8p52));  // its last bits are 16 n + j
  Vec sixteenths = shifted - 0x1.8p52;
  Vec r = muladd(sixteenths, splat(-ln2_low), muladd(sixteenths, splat(-ln2_high), x));
  Vec power = _mm512_permutex2var_pd(kSixteenthsLow, reinterpret_cast<__m512i>(shifted), kSixteenthsHigh);
  Vec series = muladd(r * r, exp_series<4>(r, splat(1.0 / 5040), 720.0), r);
  Vec y = muladd(power, series, power);
  return _mm512_maskz_scalef_pd(remains, y, sixteenths * 0.0625);  // by 2^n: it rounds down
}
#endif

// factor 2^(x y) - term for 0 <= x y <= 1000, where x y is taken exactly; within x y + 4 ulp of the larger of
// the two.  For sums over alignments, which spend their time here.
template <class V>
MERCER_INLINE V power_less(V x, double y, double factor, V term) {
  return factor * exponential(x * (y * 0x1.62e42fefa39efp-1)) - term;
}
#if defined(__AVX512F__)
// x y = n + j / 16 + f with whole numbers n and j < 16, and |f| <= 1/32.  The series of 2^f has its term of
// degree 7 spread over the lower ones (Chebyshev).
MERCER_INLINE Vec power_less(Vec x, double y, double factor, Vec term) {
  constexpr double a = 0x1.62e42fefa39efp-1, a2 = a * a, a3 = a * a2, a4 = a * a3;  // log 2
  constexpr double last = a3 * a4 / (5040 * 64), h = 1.0 / 1024;                    // of f^7; f^2 <= h
  Vec shifted = muladd(x, splat(y), splat(0x1.8p48));  // its last bits are 16 n + j
  Vec whole = shifted - 0x1.8p48;                      // n + j / 16
  Vec f = _mm512_fmsub_pd(x, splat(y), whole);
  Vec root = _mm512_permutex2var_pd(factor * kSixteenthsLow, reinterpret_cast<__m512i>(shifted),
                                    factor * kSixteenthsHigh);
  Vec series = muladd(splat(a3 * a3 / 720), f, splat(a4 * a / 120 + 112 * h * last));
  series = muladd(series, f, splat(a4 / 24));
  series = muladd(series, f, splat(a3 / 6 - 56 * h * h * last));
  series = muladd(series, f, splat(a2 / 2));
  series = muladd(series, f, splat(a + 7 * h * h * h * last));
  series = muladd(series, f, splat(1.0));
  return muladd(_mm512_scalef_pd(root, whole), series, -term);  // by 2^n: it rounds down
}
#endif

// 1 / a for normal numbers a whose reciprocals are normal, within 1 ulp.
template <class V>
MERCER_INLINE V reciprocal_of(V a) {
  return 1.0 / a;
}
#if defined(__AVX512F__)
// y (1 + e) (1 + e^2) with e = 1 - a y, from 14 bits on: division is the slowest instruction there is.
MERCER_INLINE Vec reciprocal_of(Vec a) {
  Vec one = splat(1.0), y = _mm512_rcp14_pd(a);
  Vec error = _mm512_fnmadd_pd(a, y, one);
  y = muladd(y, error, y);
  return muladd(y, error * error, y);
}
#endif

// exp(x + low), where `low` is small.
template <class V>
MERCER_INLINE V exponential(V x, V low) {
  V n, r;
  auto vanishes = x < kVanishes;
  split(vanishes ? V{} : smaller(constant<V>(710.0), x), n, r);
  V y = times_power_of_two(1.0 + exp_minus_one(r + low), n);
  return vanishes ? V{} : y;
}

template <class V>
MERCER_INLINE V hyperbolic_tangent(V x) {
  constexpr std::int64_t sign = static_cast<std::int64_t>(1) << 63;
  V size = from_bits(bits(x) & ~sign);
  V n, r;
  split(2.0 * smaller(constant<V>(20.0), size), n, r);
  V p = power_of_two(n);
  V t = muladd(p, exp_minus_one(r), p - 1.0);  // exp(2 |x|) - 1
  V y = from_bits(bits(t / (t + 2.0)) | (bits(x) & sign));
  return x == x ? y : x;
}

template <class V>
MERCER_INLINE V logarithm_of_one_plus(V x) {
  V u = 1.0 + x;
  V y = logarithm(u) + (x - (u - 1.0)) / u;  // what rounding took from u
  V edge = x == -1.0 ? constant<V>(-kInfinity) : constant<V>(__builtin_nan(""));
  y = x < kInfinity ? y : x;
  y = x > -1.0 ? y : edge;
  return x == 0.0 ? x : y;
}

// x^p for x >= 0 and finite p > 0: the logarithm in two parts, of which the second has the digits that the
// multiplication by p brings to light.  See `logarithm` for the series.
template <class V>
MERCER_INLINE V real_power(V x, double p) {
  constexpr double ln2_high = 0x1.62e42fefa38p-1, ln2_low = 0x1.ef35793c7673p-45;
  constexpr std::int64_t mantissa = 0x000fffffffffffff, one = 0x3ff0000000000000, magic = 0x4330000000000000;
  auto tiny = x < 0x1p-1022;
  V v = tiny ? x * 0x1p54 : x;
  auto b = bits(v);
  V m = from_bits((b & mantissa) | one);
  V e = from_bits((b >> 52) | magic) - (0x1p52 + 1023.0);
  e = tiny ? e - 54.0 : e;
  auto large = m > 1.4142135623730951;
  m = large ? m * 0.5 : m;
  e = large ? e + 1.0 : e;

  V f = m - 1.0, g = m + 1.0, g_low = m - (g - 1.0);
  V s = f / g, product = s * g;
  V s_low = ((f - product) - product_error(s, g, product) - s * g_low) / g;
  V z = s * s;
  V series = constant<V>(2.0 / 21);
  series = muladd(series, z, constant<V>(2.0 / 19));
  series = muladd(series, z, constant<V>(2.0 / 17));
  series = muladd(series, z, constant<V>(2.0 / 15));
  series = muladd(series, z, constant<V>(2.0 / 13));
  series = muladd(series, z, constant<V>(2.0 / 11));
  series = muladd(series, z, constant<V>(2.0 / 9));
  series = muladd(series, z, constant<V>(2.0 / 7));
  series = muladd(series, z, constant<V>(2.0 / 5));
  series = muladd(series, z, constant<V>(2.0 / 3));
  V main = e * ln2_high, high = main + 2.0 * s;
  V low = ((main - high) + 2.0 * s) + muladd(s * z, series, muladd(e, constant<V>(ln2_low), 2.0 * s_low));
  V log_high = high + low, log_low = (high - log_high) + low;

  V y = p * log_high;
  V y_low = muladd(constant<V>(p), log_low, product_error(constant<V>(p), log_high, y));
  auto within = from_bits(bits(y_low) & 0x7fffffffffffffff) < 1.0;  // not where p log x overflows
  y_low = within ? y_low : V{};
  V result = exponential(y, y_low);
  result = x > 0.0 ? result : x;  // zero, and NaN
  result = x < kInfinity ? result : x;
  return x >= 0.0 ? result : constant<V>(__builtin_nan(""));
}

}  // namespace
}  // namespace mercer::MERCER_TILES
