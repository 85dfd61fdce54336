#include "single.hpp"

#include <algorithm>

#include "dispatch.hpp"

namespace mercer {

SingleRows::SingleRows(const double* points, Index n, Index features)
    : n_(n),
      features_(features),
      panels_(static_cast<std::size_t>((n + kPanel - 1) / kPanel * kPanel * features)),
      halves_(static_cast<std::size_t>((n + kPanel - 1) / kPanel * kPanel)) {
  for (Index i = 0; i < n; ++i) {
    const double* x = points + i * features;
    double *to = panels_.data() + place(i), square = 0.0;
    for (Index k = 0; k < features; ++k) {
      to[k * kPanel] = x[k];
      square += x[k] * x[k];
    }
    halves_[i] = 0.5 * square;
  }
}

void SingleRows::fill(Index i, Index first, Index count, float* out) const {
  std::vector<double> x(static_cast<std::size_t>(features_));
  for (Index k = 0; k < features_; ++k) x[k] = panels_[place(i) + k * kPanel];
  for (Index j = first / kPanel * kPanel; j < first + count; j += kPanel) {
    Index from = std::max(first, j), last = std::min(first + count, j + kPanel);
    float values[kPanel];
    bool whole = last - from == kPanel;
    float* to = whole ? out + (j - first) : values;
    table().fill_single(x.data(), halves_[i], panels_.data() + place(j), halves_.data() + j, features_, to);
    if (!whole) std::copy(values + (from - j), values + (last - j), out + (from - first));
  }
}

}  // namespace mercer
