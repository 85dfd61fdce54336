// The terms that pairwise sums are made of: step(acc, x, y) adds the contribution of one feature.
//
// Each term is a symmetric function of x and y down to the last bit, and zero at (0, 0), so that sparse rows
// need only the union of their supports and padding with zeros is harmless.
#pragma once

#include "../table.hpp"
#include "simd.hpp"

namespace mercer::MERCER_TILES {
namespace {

struct SqEuclidean {  // (x - y)^2
  template <class V>
  static MERCER_INLINE V step(V acc, V x, V y) {
    V d = x - y;
    return muladd(d, d, acc);
  }
};

struct Dot {  // x y
  template <class V>
  static MERCER_INLINE V step(V acc, V x, V y) {
    return muladd(x, y, acc);
  }
};

struct L1 {  // |x - y|
  template <class V>
  static MERCER_INLINE V step(V acc, V x, V y) {
    V d = x - y;
    return acc + magnitude(d);
  }
};

struct Min {
  template <class V>
  static MERCER_INLINE V step(V acc, V x, V y) {
    return acc + smaller(x, y);
  }
};

struct Max {
  template <class V>
  static MERCER_INLINE V step(V acc, V x, V y) {
    return acc + larger(x, y);
  }
};

struct ChiSquare {  // (x - y)^2 / (x + y) for x, y >= 0, with 0 / 0 = 0; no intermediate is larger than x + y
  template <class V>
  static MERCER_INLINE V step(V acc, V x, V y) {
    V d = x - y, s = x + y;
    return muladd(d, share(d, s), acc);
  }
};

// log(v) for v > 0 normal, within about 1 ulp away from v = 1; something finite for zero and subnormals,
// which Jensen multiplies by themselves.  v = 2^e m with m in (sqrt(1/2), sqrt(2)], log m = 2
// atanh((m-1)/(m+1)).
template <class V>
MERCER_INLINE V logarithm(V v) {
  constexpr double ln2_high = 0x1.62e42fefa38p-1, ln2_low = 0x1.ef35793c7673p-45;
  constexpr std::int64_t mantissa = 0x000fffffffffffff, one = 0x3ff0000000000000, magic = 0x4330000000000000;
  auto b = bits(v);
  V m = from_bits((b & mantissa) | one);
  V e = from_bits((b >> 52) | magic) - (0x1p52 + 1023.0);
  auto large = m > 1.4142135623730951;
  m = large ? m * 0.5 : m;
  e = large ? e + 1.0 : e;
  V s = (m - 1.0) / (m + 1.0);
  V z = s * s;
  V p = constant<V>(2.0 / 21);
  p = muladd(p, z, constant<V>(2.0 / 19));
  p = muladd(p, z, constant<V>(2.0 / 17));
  p = muladd(p, z, constant<V>(2.0 / 15));
  p = muladd(p, z, constant<V>(2.0 / 13));
  p = muladd(p, z, constant<V>(2.0 / 11));
  p = muladd(p, z, constant<V>(2.0 / 9));
  p = muladd(p, z, constant<V>(2.0 / 7));
  p = muladd(p, z, constant<V>(2.0 / 5));
  p = muladd(p, z, constant<V>(2.0 / 3));
  V tail = muladd(s * z, p, e * ln2_low);
  return muladd(e, constant<V>(ln2_high), 2.0 * s + tail);
}

// The terms z^k / (k (2k - 1)) of the series below, by Horner's rule from the last to the first.
template <int k, class V>
MERCER_INLINE V jensen_series(V z, V sum) {
  if constexpr (k == 0)
    return sum * z;
  else
    return jensen_series<k - 1>(z, muladd(sum, z, constant<V>(1.0 / (k * (2.0 * k - 1)))));
}

// h((x + y)/2) - (h(x) + h(y))/2 with h(t) = -t log t, for x, y >= 0.  The definition subtracts numbers that
// nearly agree; with s = x + y and t = |x - y| / s it equals
//   s/4 [(1 + t) log(1 + t) + (1 - t) log(1 - t)] = s/4 [t^2 + t^4/6 + t^6/15 + ... + t^2k / k(2k-1) + ...],
// the series for t < 1/3 and the logarithms beyond, where they no longer cancel.
struct Jensen {
  template <class V>
  static MERCER_INLINE V step(V acc, V x, V y) {
    V d = larger(x, y) - smaller(x, y), s = x + y;
    V divisor = s > 0.0 ? s : s + 1.0;
    V t = d / divisor;
    V low = 2.0 * smaller(x, y) / divisor, high = 1.0 + t;
    V series = jensen_series<16>(t * t, V{});
    V direct = muladd(high, logarithm(high), low * logarithm(low));
    V value = t < 1.0 / 3 ? series : direct;
    return muladd(0.25 * s, value, acc);
  }
};

}  // namespace
}  // namespace mercer::MERCER_TILES
