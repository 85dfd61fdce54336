// Turns a square of numbers over, in registers: as many rows as a vector has lanes.
#pragma once

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

}  // namespace
}  // namespace mercer::MERCER_TILES
