// Vectors of floats, as wide as those of doubles are: twice as many numbers.
#pragma once

#include "../table.hpp"
#include "simd.hpp"

namespace mercer::MERCER_TILES {
namespace {

#if MERCER_VECTORS
constexpr int kFloatLanes = 2 * kLanes;
typedef float FloatVec __attribute__((vector_size(kLanes * 8)));

MERCER_INLINE void store(float* p, FloatVec a) { std::memcpy(p, &a, sizeof a); }
#  if defined(__AVX512F__)
MERCER_INLINE FloatVec muladd(FloatVec a, FloatVec b, FloatVec c) { return _mm512_fmadd_ps(a, b, c); }
#  elif defined(__FMA__)
MERCER_INLINE FloatVec muladd(FloatVec a, FloatVec b, FloatVec c) { return _mm256_fmadd_ps(a, b, c); }
#  else
MERCER_INLINE FloatVec muladd(FloatVec a, FloatVec b, FloatVec c) { return a * b + c; }
#  endif
#else
constexpr int kFloatLanes = 1;
using FloatVec = float;

MERCER_INLINE void store(float* p, float a) { *p = a; }
MERCER_INLINE float muladd(float a, float b, float c) { return a * b + c; }
#endif

MERCER_INLINE FloatVec load_floats(const float* p) {
  FloatVec a;
  std::memcpy(&a, p, sizeof a);
  return a;
}

MERCER_INLINE FloatVec splat_float(float a) { return a - FloatVec{}; }

// In one instruction, as for doubles.
#if defined(__AVX512F__)
MERCER_INLINE FloatVec larger(FloatVec a, FloatVec b) { return _mm512_max_ps(a, b); }
#elif defined(__AVX__)
MERCER_INLINE FloatVec larger(FloatVec a, FloatVec b) { return _mm256_max_ps(a, b); }
#endif

constexpr int kPanelVectors = kPanel / kFloatLanes;

// Rows whose sums fit into the registers next to the columns of a panel.
#if defined(__AVX512F__)
constexpr int kGroup = 12;
#elif defined(__AVX__)
constexpr int kGroup = 3;
#else
constexpr int kGroup = 1;
#endif

}  // namespace
}  // namespace mercer::MERCER_TILES
