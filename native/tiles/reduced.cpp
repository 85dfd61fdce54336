// Gaussian kernel values in single precision throughout: sums, powers and what is stored.
//
// A block of sums stays in registers from the first feature to the stored value.
//
// A group always has all its rows: those that are missing repeat the last one, and count for nothing.
#include "floats.hpp"
#include "tiles.hpp"

namespace mercer::MERCER_TILES {
namespace {

constexpr float kLogarithm = 0.693147180559945309f;  // of 2

// The terms (f log 2)^k / k! up to the seventh, by Horner's rule from the last to the first.  For |f| <= 1/2
// the eighth is below 2^-27.
template <int k>
MERCER_INLINE FloatVec power_series(FloatVec r, FloatVec sum) {
  constexpr float factorials[] = {1.0f, 1.0f, 2.0f, 6.0f, 24.0f, 120.0f, 720.0f, 5040.0f};
  if constexpr (k < 0)
    return sum;
  else
    return power_series<k - 1>(r, muladd(sum, r, splat_float(1.0f / factorials[k])));
}

// y 2^n for whole numbers -126 <= n <= 0, given n + kShift
constexpr float kShift = 0x1.8p23f;
#if defined(__AVX512F__)
MERCER_INLINE FloatVec scale(FloatVec y, FloatVec shifted) {
  return _mm512_scalef_ps(y, shifted - splat_float(kShift));
}
#elif MERCER_VECTORS
typedef std::int32_t IntVec __attribute__((vector_size(kLanes * 8)));
MERCER_INLINE FloatVec scale(FloatVec y, FloatVec shifted) {
  // The last bits of a shifted number are those of n.
  return reinterpret_cast<FloatVec>(reinterpret_cast<IntVec>(y) + (reinterpret_cast<IntVec>(shifted) << 23));
}
#else
MERCER_INLINE float scale(float y, float shifted) {
  std::uint32_t a, n;
  std::memcpy(&a, &y, sizeof a);
  std::memcpy(&n, &shifted, sizeof n);
  a += n << 23;
  std::memcpy(&y, &a, sizeof y);
  return y;
}
#endif

// 2^t for t <= 0, zero where that is no normal number; t > 0 is rounding of zero, and counts as zero.
MERCER_INLINE FloatVec power(FloatVec t) {
  constexpr float least = -126.0f;
  FloatVec bounded = t < 0.0f ? t : splat_float(0.0f);
  bounded = bounded > least ? bounded : splat_float(least);
  FloatVec shifted = bounded + splat_float(kShift);
  FloatVec r = (bounded - (shifted - splat_float(kShift))) * splat_float(kLogarithm);
  FloatVec value = scale(power_series<6>(r, splat_float(1.0f / 5040.0f)), shifted);
  return t > least ? value : splat_float(0.0f);
}

// Calls finish(r, values) for every row of a group, with the values of kPanelVectors vectors.
template <class Finish>
MERCER_INLINE void for_each_row(const ReducedGroup& group, const ReducedPanel& panel, Finish finish) {
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
    FloatVec half = splat_float(group.halves[r]);
    for (int v = 0; v < kPanelVectors; ++v)
      acc[r][v] = power(acc[r][v] - (half + load_floats(panel.halves + v * kFloatLanes)));
    finish(r, acc[r]);
  }
}

void tile(const ReducedGroup& group, const ReducedPanel& panel) {
  bool whole = panel.columns == kPanel;
  for_each_row(group, panel, [&](int r, const FloatVec* values) {
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
