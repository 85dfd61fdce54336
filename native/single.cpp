#include "single.hpp"

#include <algorithm>
#include <vector>

#include "dispatch.hpp"

namespace mercer {

void SingleRows::fill(Index i, Index first, Index count, float* out) const {
  Index features = points_.features();
  std::vector<double> x(static_cast<std::size_t>(features));
  for (Index k = 0; k < features; ++k) x[k] = points_.point(i)[k * kPanel];
  for (Index j = first / kPanel * kPanel; j < first + count; j += kPanel) {
    Index from = std::max(first, j), last = std::min(first + count, j + kPanel);
    float values[kPanel];
    bool whole = last - from == kPanel;
    float* to = whole ? out + (j - first) : values;
    table().fill_single(x.data(), *points_.halves(i), points_.point(j), points_.halves(j), features, to);
    if (!whole) std::copy(values + (from - j), values + (last - j), out + (from - first));
  }
}

}  // namespace mercer
