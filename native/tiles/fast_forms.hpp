// Fast forms of two sums over features, and where they can be trusted.
//
//   Sum                     what is summed, faster than Term
//   value(sum, squares)     its value, given |x|^2 + |y|^2 if kNeedsSquares; NaN where Term has to be summed
//
// Both are symmetric in x and y down to the last bit, as the terms are.
#pragma once

#include "terms.hpp"

namespace mercer::MERCER_TILES {
namespace {

// |x - y|^2 = |x|^2 + |y|^2 - 2 <x, y>, for float32 data or results: one operation per feature instead of
// two.
//
// Products are exact or fused, so that each of the three sums takes at most d roundings (d - 1 for float32
// data), and the value two more.  With u = 2^-53 and sum |x_k y_k| <= (|x|^2 + |y|^2) / 2 the error
// is at most 2 (d + 2) u (|x|^2 + |y|^2) to first order.  Values of at least 2^-10 (|x|^2 + |y|^2) therefore
// have a relative error below (d + 2) 2^-42: two millionths of (d + 8) eps of float32, and up to d = 2000 a
// hundredth of what rounding to float32 takes.  Smaller ones come from differences, zero among them, and
// those whose squares overflow.  (Without fused operations, a product of doubles takes one more rounding.)
struct Expanded {
  using Sum = Dot;
  using Term = SqEuclidean;
  static constexpr bool kNeedsSquares = true;
  template <class V>
  static MERCER_INLINE V value(V sum, V squares) {
    V value = muladd(constant<V>(-2.0), sum, squares);
    V enough = squares < kInfinity ? 0x1p-10 * squares : constant<V>(kInfinity);
    return value >= enough ? value : constant<V>(__builtin_nan(""));
  }
};

constexpr Index kTogether = 4;  // features that share a division

// Chi-square with a/b + c/d = (a d + c b) / (b d): a division takes as long as a dozen other operations.
//
// A sum s = x + y below `least` is raised to it.  That makes 0 / 0 zero, and changes a term by less than
// `least`; the product of four sums is at least 2^-800, so that underflow anywhere costs less than that too.
// A value of 2^80 `least` or more therefore is off by 2^-79 per feature, besides rounding.  Where the product
// overflows, zero times it makes the value NaN.
struct SharedDivision {
  using Sum = SharedDivision;
  using Term = ChiSquare;
  static constexpr bool kNeedsSquares = false;
  static constexpr double least = 0x1p-200;

  struct Fraction {
    Vec above, below;
  };
  static MERCER_INLINE Fraction fraction(double x, const double* y) {
    Vec d = splat(x) - load(y), s = splat(x) + load(y);
    return {d * d, larger(s, splat(least))};
  }
  static MERCER_INLINE Fraction add(Fraction a, Fraction b) {
    return {muladd(a.above, b.below, b.above * a.below), a.below * b.below};
  }
  static MERCER_INLINE Vec step(Vec acc, const double* x, Index next_x, const double* y, Index next_y) {
    Fraction first = add(fraction(x[0], y), fraction(x[next_x], y + next_y));
    Fraction second = add(fraction(x[2 * next_x], y + 2 * next_y), fraction(x[3 * next_x], y + 3 * next_y));
    Fraction all = add(first, second);
    return muladd(all.below, splat(0.0), acc + all.above / all.below);
  }
  static MERCER_INLINE Vec value(Vec sum, Vec) {
    Vec bounded = sum < kInfinity ? sum : splat(__builtin_nan(""));
    return sum >= 0x1p80 * least ? bounded : splat(__builtin_nan(""));
  }
};

}  // namespace
}  // namespace mercer::MERCER_TILES
