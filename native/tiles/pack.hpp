// Packing shared by the dense tiles: rows are copied, widened to double, so that the innermost loop reads
// memory in order.  Beyond the last row a panel is filled with zeros, and what comes of them is not stored.
#pragma once

#include "../table.hpp"
#include "simd.hpp"
#include "transpose.hpp"

namespace mercer::MERCER_TILES {
namespace {

// panel[k * width + r] = A[first + r][from + k]
template <int width, class T>
MERCER_INLINE void pack(Dense<T> A, Index first, Index from, Index count, double* panel) {
  static_assert(width % kLanes == 0);
  for (int r = 0; r < width; r += kLanes) {
    const T* row = A.data + (first + r) * A.stride + from;
    Index k = 0;
    if (first + r + kLanes <= A.rows)
      for (; k + kLanes <= count; k += kLanes) {
        Vec square[kLanes];
        for (int l = 0; l < kLanes; ++l) square[l] = load(row + l * A.stride + k);
        transpose(square);
        for (int l = 0; l < kLanes; ++l) store(panel + (k + l) * width + r, square[l]);
      }
    for (; k < count; ++k)
      for (int l = 0; l < kLanes; ++l)
        panel[k * width + r + l] = first + r + l < A.rows ? static_cast<double>(row[l * A.stride + k]) : 0.0;
  }
}

}  // namespace
}  // namespace mercer::MERCER_TILES
