// Vectors of doubles of the width that the instruction set of this translation unit has.
//
// Everything in native/tiles lives in the namespace of its instruction set and includes no header that
// defines inline functions of its own: the linker keeps one copy of a shared inline function for the whole
// program, and a copy compiled for AVX-512 would then run on machines that lack it.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__FMA__) || defined(__AVX512F__)
#  include <immintrin.h>
#endif

#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__)
#  pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC 12 means its own intrinsics
#endif

#if !defined(__GNUC__) && !defined(__clang__)
#  include <math.h>
#endif

#define MERCER_JOIN2(a, b) a##b
#define MERCER_JOIN(a, b) MERCER_JOIN2(a, b)
#define MERCER_TILES MERCER_JOIN(tiles_, MERCER_ISA)

#if defined(__GNUC__) || defined(__clang__)
#  define MERCER_VECTORS 1
#  define MERCER_INLINE inline __attribute__((always_inline))
#else
#  define MERCER_VECTORS 0
#  define MERCER_INLINE inline
#endif

namespace mercer::MERCER_TILES {
namespace {

constexpr double kInfinity = __builtin_huge_val();

// kRows x kCols pairs are held in registers at a time.
#if !MERCER_VECTORS
constexpr int kLanes = 1, kRows = 4;
#elif defined(__AVX512F__)
constexpr int kLanes = 8, kRows = 8;
#elif defined(__AVX__)
constexpr int kLanes = 4, kRows = 4;
#else
constexpr int kLanes = 2, kRows = 4;
#endif
constexpr int kVectors = 2;
constexpr int kCols = kVectors * kLanes;

MERCER_INLINE std::int64_t bits(double a) {
  std::int64_t b;
  std::memcpy(&b, &a, sizeof b);
  return b;
}
MERCER_INLINE double from_bits(std::int64_t a) {
  double b;
  std::memcpy(&b, &a, sizeof b);
  return b;
}

#if MERCER_VECTORS
typedef double Vec __attribute__((vector_size(kLanes * 8)));
typedef std::int64_t IVec __attribute__((vector_size(kLanes * 8)));
MERCER_INLINE IVec bits(Vec a) { return reinterpret_cast<IVec>(a); }
MERCER_INLINE Vec from_bits(IVec a) { return reinterpret_cast<Vec>(a); }
#else
using Vec = double;
#endif

template <class V>
MERCER_INLINE V constant(double a) {
  return a - V{};
}
MERCER_INLINE Vec splat(double a) { return constant<Vec>(a); }
MERCER_INLINE Vec load(const double* p) {
  Vec a;
  std::memcpy(&a, p, sizeof a);
  return a;
}
MERCER_INLINE void store(double* p, Vec a) { std::memcpy(p, &a, sizeof a); }

// Asks for a number that will be read soon, into the second cache.
#if MERCER_VECTORS
MERCER_INLINE void prefetch(const void* p) { __builtin_prefetch(p, 0, 2); }
#else
MERCER_INLINE void prefetch(const void*) {}
#endif

// float32 numbers, widened.
#if defined(__AVX512F__)
MERCER_INLINE Vec load(const float* p) { return _mm512_cvtps_pd(_mm256_loadu_ps(p)); }
#elif defined(__AVX__)
MERCER_INLINE Vec load(const float* p) { return _mm256_cvtps_pd(_mm_loadu_ps(p)); }
#else
MERCER_INLINE Vec load(const float* p) {
  double lanes[kLanes];
  for (int l = 0; l < kLanes; ++l) lanes[l] = static_cast<double>(p[l]);
  return load(lanes);
}
#endif

// a * b + c, fused on machines that can.  Contraction by the compiler is switched off for these files, since
// it may treat two branches of one function differently, and with them the pairs (x, y) and (y, x).
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
MERCER_INLINE double muladd(double a, double b, double c) { return __builtin_fma(a, b, c); }
#else
MERCER_INLINE double muladd(double a, double b, double c) { return a * b + c; }
#endif
#if defined(__AVX512F__)
MERCER_INLINE Vec muladd(Vec a, Vec b, Vec c) { return _mm512_fmadd_pd(a, b, c); }
#elif defined(__FMA__)
MERCER_INLINE Vec muladd(Vec a, Vec b, Vec c) { return _mm256_fmadd_pd(a, b, c); }
#elif MERCER_VECTORS && defined(__ARM_FEATURE_FMA)
MERCER_INLINE Vec muladd(Vec a, Vec b, Vec c) {
  for (int l = 0; l < kLanes; ++l) c[l] = __builtin_fma(a[l], b[l], c[l]);
  return c;
}
#elif MERCER_VECTORS
MERCER_INLINE Vec muladd(Vec a, Vec b, Vec c) { return a * b + c; }
#endif

#if defined(__AVX512F__)
MERCER_INLINE Vec square_root(Vec a) { return _mm512_sqrt_pd(a); }
#elif defined(__AVX__)
MERCER_INLINE Vec square_root(Vec a) { return _mm256_sqrt_pd(a); }
#elif MERCER_VECTORS
MERCER_INLINE Vec square_root(Vec a) {
  for (int l = 0; l < kLanes; ++l) a[l] = __builtin_sqrt(a[l]);
  return a;
}
#else
MERCER_INLINE Vec square_root(Vec a) { return sqrt(a); }
#endif

// The numbers of a table at places that are whole numbers below 2^31.
#if defined(__AVX512F__)
MERCER_INLINE Vec gather(const double* from, Vec place) {
  return _mm512_i32gather_pd(_mm512_cvtpd_epi32(place), from, 8);
}
#elif defined(__AVX2__)
MERCER_INLINE Vec gather(const double* from, Vec place) {
  return _mm256_i32gather_pd(from, _mm256_cvtpd_epi32(place), 8);
}
#elif MERCER_VECTORS
MERCER_INLINE Vec gather(const double* from, Vec place) {
  for (int l = 0; l < kLanes; ++l) place[l] = from[static_cast<std::int32_t>(place[l])];
  return place;
}
#else
MERCER_INLINE Vec gather(const double* from, Vec place) { return from[static_cast<std::int32_t>(place)]; }
#endif

// The functions below take a Vec, or a single double where rows are sparse.
template <class V>
MERCER_INLINE V smaller(V a, V b) {
  return a < b ? a : b;
}
template <class V>
MERCER_INLINE V larger(V a, V b) {
  return a > b ? a : b;
}
template <class V>
MERCER_INLINE V magnitude(V a) {
  return from_bits(bits(a) & 0x7fffffffffffffff);
}
// Whether a lane is NaN.
#if defined(__AVX512F__)
MERCER_INLINE bool any_nan(Vec a) { return _mm512_cmp_pd_mask(a, a, _CMP_UNORD_Q) != 0; }
#elif defined(__AVX__)
MERCER_INLINE bool any_nan(Vec a) { return _mm256_movemask_pd(_mm256_cmp_pd(a, a, _CMP_UNORD_Q)) != 0; }
#else
MERCER_INLINE bool any_nan(Vec a) {
  double lanes[kLanes];
  store(lanes, a);
  bool found = false;
  for (double lane : lanes) found |= lane != lane;
  return found;
}
#endif
// a / b for |a| <= b, and 0 if both are.
template <class V>
MERCER_INLINE V share(V a, V b) {
  return b > 0.0 ? a / b : a;
}

// The same in one instruction, which compilers do not find.
#if defined(__AVX512F__)
MERCER_INLINE Vec smaller(Vec a, Vec b) { return _mm512_min_pd(a, b); }
MERCER_INLINE Vec larger(Vec a, Vec b) { return _mm512_max_pd(a, b); }
#elif defined(__AVX__)
MERCER_INLINE Vec smaller(Vec a, Vec b) { return _mm256_min_pd(a, b); }
MERCER_INLINE Vec larger(Vec a, Vec b) { return _mm256_max_pd(a, b); }
#endif

}  // namespace
}  // namespace mercer::MERCER_TILES
