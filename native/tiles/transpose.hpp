// Turns a square of numbers over, in registers: as many rows as a vector has lanes.
#pragma once

#include "floats.hpp"
#include "simd.hpp"

namespace mercer::MERCER_TILES {
namespace {

#if defined(__AVX512F__)
MERCER_INLINE void transpose(Vec (&rows)[8]) {
  Vec pairs[8], quads[8];
  for (int i = 0; i < 8; i += 2) {
    pairs[i] = _mm512_unpacklo_pd(rows[i], rows[i + 1]);
    pairs[i + 1] = _mm512_unpackhi_pd(rows[i], rows[i + 1]);
  }
  for (int i = 0; i < 8; i += 4)
    for (int k = 0; k < 2; ++k) {
      quads[i + k] = _mm512_shuffle_f64x2(pairs[i + k], pairs[i + k + 2], 0x88);
      quads[i + k + 2] = _mm512_shuffle_f64x2(pairs[i + k], pairs[i + k + 2], 0xdd);
    }
  for (int k = 0; k < 4; ++k) {
    rows[k] = _mm512_shuffle_f64x2(quads[k], quads[k + 4], 0x88);
    rows[k + 4] = _mm512_shuffle_f64x2(quads[k], quads[k + 4], 0xdd);
  }
}
#elif defined(__AVX__)
MERCER_INLINE void transpose(Vec (&rows)[4]) {
  Vec pairs[4];
  for (int i = 0; i < 4; i += 2) {
    pairs[i] = _mm256_unpacklo_pd(rows[i], rows[i + 1]);
    pairs[i + 1] = _mm256_unpackhi_pd(rows[i], rows[i + 1]);
  }
  for (int k = 0; k < 2; ++k) {
    rows[k] = _mm256_permute2f128_pd(pairs[k], pairs[k + 2], 0x20);
    rows[k + 2] = _mm256_permute2f128_pd(pairs[k], pairs[k + 2], 0x31);
  }
}
#else
MERCER_INLINE void transpose(Vec (&rows)[kLanes]) {
  double numbers[kLanes][kLanes], turned[kLanes][kLanes];
  for (int i = 0; i < kLanes; ++i) store(numbers[i], rows[i]);
  for (int i = 0; i < kLanes; ++i)
    for (int j = 0; j < kLanes; ++j) turned[j][i] = numbers[i][j];
  for (int i = 0; i < kLanes; ++i) rows[i] = load(turned[i]);
}
#endif

// Four rows, of which each part of four numbers is turned over by itself.
#if defined(__AVX512F__)
MERCER_INLINE void transpose_parts(FloatVec* rows) {
  __m512d pairs[4];
  for (int i = 0; i < 4; i += 2) {
    pairs[i / 2] = _mm512_castps_pd(_mm512_unpacklo_ps(rows[i], rows[i + 1]));
    pairs[i / 2 + 2] = _mm512_castps_pd(_mm512_unpackhi_ps(rows[i], rows[i + 1]));
  }
  for (int i = 0; i < 4; i += 2) {
    rows[i] = _mm512_castpd_ps(_mm512_unpacklo_pd(pairs[i], pairs[i + 1]));
    rows[i + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(pairs[i], pairs[i + 1]));
  }
}

MERCER_INLINE void transpose(FloatVec (&rows)[16]) {
  for (int i = 0; i < 16; i += 4) transpose_parts(rows + i);
  for (int k = 0; k < 4; ++k) {
    FloatVec even[2], odd[2];
    for (int i = 0; i < 2; ++i) {
      even[i] = _mm512_shuffle_f32x4(rows[8 * i + k], rows[8 * i + 4 + k], 0x88);
      odd[i] = _mm512_shuffle_f32x4(rows[8 * i + k], rows[8 * i + 4 + k], 0xdd);
    }
    rows[k] = _mm512_shuffle_f32x4(even[0], even[1], 0x88);
    rows[k + 4] = _mm512_shuffle_f32x4(odd[0], odd[1], 0x88);
    rows[k + 8] = _mm512_shuffle_f32x4(even[0], even[1], 0xdd);
    rows[k + 12] = _mm512_shuffle_f32x4(odd[0], odd[1], 0xdd);
  }
}
#elif defined(__AVX__)
MERCER_INLINE void transpose_parts(FloatVec* rows) {
  __m256d pairs[4];
  for (int i = 0; i < 4; i += 2) {
    pairs[i / 2] = _mm256_castps_pd(_mm256_unpacklo_ps(rows[i], rows[i + 1]));
    pairs[i / 2 + 2] = _mm256_castps_pd(_mm256_unpackhi_ps(rows[i], rows[i + 1]));
  }
  for (int i = 0; i < 4; i += 2) {
    rows[i] = _mm256_castpd_ps(_mm256_unpacklo_pd(pairs[i], pairs[i + 1]));
    rows[i + 1] = _mm256_castpd_ps(_mm256_unpackhi_pd(pairs[i], pairs[i + 1]));
  }
}

MERCER_INLINE void transpose(FloatVec (&rows)[8]) {
  for (int i = 0; i < 8; i += 4) transpose_parts(rows + i);
  for (int k = 0; k < 4; ++k) {
    FloatVec first = rows[k], second = rows[k + 4];
    rows[k] = _mm256_permute2f128_ps(first, second, 0x20);
    rows[k + 4] = _mm256_permute2f128_ps(first, second, 0x31);
  }
}
#else
MERCER_INLINE void transpose(FloatVec (&rows)[kFloatLanes]) {
  float numbers[kFloatLanes][kFloatLanes], turned[kFloatLanes][kFloatLanes];
  for (int i = 0; i < kFloatLanes; ++i) store(numbers[i], rows[i]);
  for (int i = 0; i < kFloatLanes; ++i)
    for (int j = 0; j < kFloatLanes; ++j) turned[j][i] = numbers[i][j];
  for (int i = 0; i < kFloatLanes; ++i) rows[i] = load_floats(turned[i]);
}
#endif

}  // namespace
}  // namespace mercer::MERCER_TILES
