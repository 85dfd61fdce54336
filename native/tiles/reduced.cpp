// Rows in single precision throughout: inner products, a polynomial of each, and what is stored.
//
// A block of sums stays in registers from the first feature to the stored value.
//
// A group always has all its rows: those that are missing repeat the last one, and count for nothing.
#include "floats.hpp"
#include "tiles.hpp"

namespace mercer::MERCER_TILES {
namespace {

// The bits of a float are its sign, its exponent and kMantissa bits behind the leading one; those above the
// last kOffset number the segments of all positive floats.
constexpr int kMantissa = 23, kOffset = kMantissa - kSegmentBits;
constexpr std::int32_t kOne = 127 << kMantissa, kFirst = (kOne - (kBinades << kMantissa)) >> kOffset;
constexpr float kSmallest = 1.0f / (1 << kBinades), kLargest = 1.0f - 0x1p-24f;

#if MERCER_VECTORS
typedef std::int32_t IntVec __attribute__((vector_size(kLanes * 8)));
MERCER_INLINE IntVec float_bits(FloatVec a) { return reinterpret_cast<IntVec>(a); }
MERCER_INLINE FloatVec float_of(IntVec a) { return reinterpret_cast<FloatVec>(a); }
#else
using IntVec = std::int32_t;
MERCER_INLINE IntVec float_bits(float a) {
  IntVec b;
  std::memcpy(&b, &a, sizeof b);
  return b;
}
MERCER_INLINE float float_of(IntVec a) {
  float b;
  std::memcpy(&b, &a, sizeof b);
  return b;
}
#endif

#if defined(__AVX512F__)
MERCER_INLINE FloatVec gather_floats(const float* from, IntVec place) {
  return _mm512_mask_i32gather_ps(FloatVec{}, 0xffff, reinterpret_cast<__m512i>(place), from, 4);
}
#elif defined(__AVX2__)
MERCER_INLINE FloatVec gather_floats(const float* from, IntVec place) {
  return _mm256_i32gather_ps(from, reinterpret_cast<__m256i>(place), 4);
}
#elif MERCER_VECTORS
MERCER_INLINE FloatVec gather_floats(const float* from, IntVec place) {
  FloatVec numbers = {};
  for (int l = 0; l < kFloatLanes; ++l) numbers[l] = from[place[l]];
  return numbers;
}
#else
MERCER_INLINE float gather_floats(const float* from, IntVec place) { return from[place]; }
#endif

MERCER_INLINE FloatVec polynomial(FloatVec s, const float* coefficients) {
  s = s > kSmallest ? s : splat_float(kSmallest);  // NaN becomes a number too: places must be in the table
  s = s < kLargest ? s : splat_float(kLargest);
  IntVec b = float_bits(s), segment = (b >> kOffset) - kFirst;
  // The last bits are u, as those of a number of [1, 2) once they stand first.
  FloatVec u = float_of(((b << kSegmentBits) & ((1 << kMantissa) - 1)) | kOne) - splat_float(1.0f);
  FloatVec sum = gather_floats(coefficients + kDegree * kSegments, segment);
  for (int k = kDegree - 1; k >= 0; --k)
    sum = muladd(sum, u, gather_floats(coefficients + k * kSegments, segment));
  return sum;
}

// Calls finish(r, values) for every row of a group, with the values of kPanelVectors vectors.
template <class Finish>
MERCER_INLINE void for_each_row(const ReducedGroup& group, const ReducedPanel& panel,
                                const float* coefficients, Finish finish) {
  FloatVec acc[kGroup][kPanelVectors] = {};
  const float *x = group.x, *y = panel.y;
  for (Index k = 0; k < panel.features; ++k, x += kGroup, y += kPanel) {
    FloatVec column[kPanelVectors];
    for (int v = 0; v < kPanelVectors; ++v) column[v] = load_floats(y + v * kFloatLanes);
    for (int r = 0; r < kGroup; ++r) {
      FloatVec row = splat_float(x[r]);
      for (int v = 0; v < kPanelVectors; ++v) acc[r][v] = muladd(row, column[v], acc[r][v]);
    }
  }
  for (int r = 0; r < kGroup; ++r) {
    FloatVec offset = splat_float(group.offsets[r]);
    for (int v = 0; v < kPanelVectors; ++v)
      acc[r][v] =
          polynomial((offset + load_floats(panel.offsets + v * kFloatLanes)) - acc[r][v], coefficients);
    finish(r, acc[r]);
  }
}

void tile(const ReducedGroup& group, const ReducedPanel& panel, const float* coefficients) {
  bool whole = panel.columns == kPanel;
  for_each_row(group, panel, coefficients, [&](int r, const FloatVec* values) {
    float last[kPanel];
    if (r >= group.rows) return;
    float* to = whole ? group.out[r] : last;
    for (int v = 0; v < kPanelVectors; ++v) store(to + v * kFloatLanes, values[v]);
    for (Index c = 0; !whole && c < panel.columns; ++c) group.out[r][c] = last[c];
  });
}

}  // namespace

void fill_reduced(Table& table) {
  table.fill_reduced = tile;
  table.reduced_rows = kGroup;
}

}  // namespace mercer::MERCER_TILES
