// Packing shared by the dense tiles: rows are copied, widened to double, so that the innermost loop reads
// memory in order.  Beyond the last row a panel is filled with zeros, and what comes of them is not stored.
#pragma once

#include "../table.hpp"
#include "simd.hpp"

namespace mercer::MERCER_TILES {
namespace {

// panel[k * width + r] = A[first + r][from + k]
template <int width, class T>
MERCER_INLINE void pack(Dense<T> A, Index first, Index from, Index count, double* panel) {
  for (int r = 0; r < width; ++r) {
    if (first + r < A.rows) {
      const T* row = A.data + (first + r) * A.stride + from;
      for (Index k = 0; k < count; ++k) panel[k * width + r] = static_cast<double>(row[k]);
    } else {
      for (Index k = 0; k < count; ++k) panel[k * width + r] = 0.0;
    }
  }
}

}  // namespace
}  // namespace mercer::MERCER_TILES
