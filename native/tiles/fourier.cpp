// Cosines and sines of the phases of random Fourier features.
#include "tiles.hpp"

namespace mercer::MERCER_TILES {
namespace {

// Up to here the reduction of a phase is exact to rounding: whole numbers of 20 bits times parts of 33 bits.
constexpr double kReduced = 0x1p20;

// The terms (-z)^j / k! from 1/k! down to 1/0! or 1/1!, by Horner's rule.
template <int k, class V>
MERCER_INLINE V alternating_series(V z, V sum, double factorial) {
  if constexpr (k < 0)
    return sum;
  else
    return alternating_series<k - 2>(z, muladd(sum, -z, constant<V>(1.0 / factorial)),
                                     factorial / (k < 2 ? 1 : k * (k - 1)));
}

// cos(x) and sin(x) for |x| <= kReduced, within 2^-52: x = n pi/2 + r with a whole number n and |r| <= pi/4.
template <class V>
MERCER_INLINE void cosine_and_sine(V x, V& cosine, V& sine) {
  constexpr double high = 0x1.921fb544p0, middle = 0x1.0b4611a6p-34, low = 0x1.3198a2e037073p-69;  // of pi/2
  V shifted = x * 0x1.45f306dc9c883p-1 + 0x1.8p52;
  auto n = bits(shifted);  // in its last bits
  V whole = shifted - 0x1.8p52;
  V r = muladd(whole, constant<V>(-high), x);
  r = muladd(whole, constant<V>(-low), muladd(whole, constant<V>(-middle), r));
  V z = r * r;
  V s = r * alternating_series<15>(z, constant<V>(1.0 / 355687428096000.0), 1307674368000.0);  // 17!, 15!
  V c = alternating_series<16>(z, constant<V>(1.0 / 6402373705728000.0), 20922789888000.0);    // 18!, 16!
  auto odd = (n & 1) != 0;
  cosine = from_bits(bits(odd ? s : c) ^ (((n + 1) & 2) << 62));
  sine = from_bits(bits(odd ? c : s) ^ ((n & 2) << 62));
}

#if MERCER_VECTORS
MERCER_INLINE double library_cosine(double x) { return __builtin_cos(x); }
MERCER_INLINE double library_sine(double x) { return __builtin_sin(x); }
#else
MERCER_INLINE double library_cosine(double x) { return cos(x); }
MERCER_INLINE double library_sine(double x) { return sin(x); }
#endif

// kLanes phases; the few that are too large go one by one.
MERCER_INLINE void features(const double* phases, double scale, double* cosines, double* sines) {
  Vec x = load(phases), c, s;
  cosine_and_sine(x, c, s);
  store(cosines, scale * c);
  store(sines, scale * s);
  for (int l = 0; l < kLanes; ++l)
    if (!(-kReduced <= phases[l] && phases[l] <= kReduced)) {
      cosines[l] = scale * library_cosine(phases[l]);
      sines[l] = scale * library_sine(phases[l]);
    }
}

// Registers of cosines and, if asked for, of sines of phases + offsets, times `scale`.
void fourier(const double* phases, Index stride, Index rows, Index cols, const double* offsets, double scale,
             double* cosines, double* sines) {
  double shifted[kLanes] = {}, unused[kLanes];
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; j += kLanes) {
      Index count = cols - j < kLanes ? cols - j : kLanes;
      for (Index l = 0; l < count; ++l)
        shifted[l] = phases[i * stride + j + l] + (offsets ? offsets[j + l] : 0.0);
      Index at = i * kTileCols + j;
      features(shifted, scale, cosines + at, sines ? sines + at : unused);
    }
}

}  // namespace

void fill_fourier(Table& table) { table.fourier = fourier; }

}  // namespace mercer::MERCER_TILES
