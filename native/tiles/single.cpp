// Gaussian kernel values of one point with a panel of others: exp(<x, y> - |x|^2/2 - |y|^2/2).
#include "functions.hpp"
#include "tiles.hpp"

namespace mercer::MERCER_TILES {
namespace {

constexpr int kPanelParts = kPanel / kLanes;

MERCER_INLINE void round_to(float* to, Vec value) {
#if defined(__AVX512F__)
  _mm256_storeu_ps(to, _mm512_cvtpd_ps(value));
#else
  double lanes[kLanes];
  store(lanes, value);
  for (int l = 0; l < kLanes; ++l) to[l] = static_cast<float>(lanes[l]);
#endif
}

void fill_row(const double* x, double half, const double* y, const double* halves, Index features,
              float* out) {
  Vec acc[kPanelParts] = {};
  for (Index k = 0; k < features; ++k, y += kPanel) {
    Vec number = splat(x[k]);
    for (int v = 0; v < kPanelParts; ++v) acc[v] = muladd(number, load(y + v * kLanes), acc[v]);
  }
  for (int v = 0; v < kPanelParts; ++v) {
    Vec exponent = acc[v] - (splat(half) + load(halves + v * kLanes));
    round_to(out + v * kLanes, exponential(smaller(exponent, splat(0.0))));  // above zero it is rounding
  }
}

}  // namespace

void fill_single(Table& table) { table.fill_single = fill_row; }

}  // namespace mercer::MERCER_TILES
