// Blocks of Cholesky factors in single precision (native/cholesky.hpp).
#include <cmath>

#include "floats.hpp"
#include "tiles.hpp"

namespace mercer::MERCER_TILES {
namespace {

static_assert(kFactorRows % kGroup == 0);

// Numbers of a row that are taken at a time: those of a panel stay in the first cache.
constexpr Index kDepth = 192;

// Rows with a distance that the compiler knows, and that no two of them share a line of the cache by.
constexpr Index kStride = kDepth + 16;

// out[r][c] -= sum_k x[r][k] y[k][c] for a group of rows and a panel of columns, or with `=` instead.
template <bool subtracts>
MERCER_INLINE void block(const float* x, const float* y, Index depth, float* out, Index stride, Index rows,
                         Index columns) {
  FloatVec acc[kGroup][kPanelVectors];
  for (int r = 0; r < kGroup; ++r)
    for (int v = 0; v < kPanelVectors; ++v) acc[r][v] = splat_float(0.0f);
  for (Index k = 0; k < depth; ++k, ++x, y += kPanel) {
    FloatVec column[kPanelVectors];
    for (int v = 0; v < kPanelVectors; ++v) column[v] = load_floats(y + v * kFloatLanes);
    for (int r = 0; r < kGroup; ++r) {
      FloatVec row = splat_float(x[r * kStride]);
      for (int v = 0; v < kPanelVectors; ++v) acc[r][v] = muladd(row, column[v], acc[r][v]);
    }
  }
  if (rows == kGroup && columns == kPanel) {  // without a choice on the way, sums stay in registers
    for (int r = 0; r < kGroup; ++r)
      for (int v = 0; v < kPanelVectors; ++v) {
        float* at = out + r * stride + v * kFloatLanes;
        store(at, subtracts ? load_floats(at) - acc[r][v] : acc[r][v]);
      }
    return;
  }
  float sums[kGroup][kPanel];
  for (int r = 0; r < kGroup; ++r)
    for (int v = 0; v < kPanelVectors; ++v) store(sums[r] + v * kFloatLanes, acc[r][v]);
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < columns; ++c) {
      float& at = out[r * stride + c];
      at = subtracts ? at - sums[r][c] : sums[r][c];
    }
}

// Some rows of a matrix side by side, groups of which are whole.
struct Copy {
  alignas(64) float x[4 * kFactorRows * kStride];

  // Out of line, where the compiler does not know how few numbers there are: it would copy them by an
  // instruction that is slow to begin.
  [[gnu::noinline]] void take(const float* rows, Index stride, Index count, Index depth) {
    for (Index r = 0; r < (count + kGroup - 1) / kGroup * kGroup; ++r) {
      const float* from = rows + std::min(r, count - 1) * stride;
      std::memcpy(x + r * kStride, from, static_cast<std::size_t>(depth) * sizeof(float));
    }
  }
};

template <bool subtracts>
void products(const Copy& copy, Index from, Index depth, const FactorPanels& panels, float* out, Index stride,
              Index count) {
  for (Index first = 0; first < panels.rows; first += kPanel) {
    const float* y = panels.data + (first * panels.depth + from * kPanel);
    if (!subtracts) depth = std::min(panels.depth, first + kPanel);  // a triangle has zeros beyond
    for (Index r = 0; r < count; r += kGroup)
      block<subtracts>(copy.x + r * kStride, y, depth, out + r * stride + first, stride,
                       std::min<Index>(kGroup, count - r), std::min(kPanel, panels.rows - first));
  }
}

void subtract_products(const float* rows, Index stride, Index count, Index zeros, const FactorPanels& panels,
                       float* out) {
  Copy copy;
  for (Index from = zeros; from < panels.depth; from += kDepth) {
    Index depth = std::min(kDepth, panels.depth - from);
    copy.take(rows + from, stride, count, depth);
    products<true>(copy, from, depth, panels, out, stride, count);
  }
}

void multiply_rows(float* rows, Index stride, Index count, const FactorPanels& panels) {
  Copy copy;
  copy.take(rows, stride, count, panels.depth);
  products<false>(copy, 0, panels.depth, panels, rows, stride, count);
}

void subtract_dots(const float* rows, Index stride, Index count, const float* x, Index depth, float* out) {
  constexpr int sums = 4;
  for (Index r = 0; r < count; ++r) {
    const float* row = rows + r * stride;
    FloatVec acc[sums] = {};
    Index k = 0;
    for (; k + sums * kFloatLanes <= depth; k += sums * kFloatLanes)
      for (int v = 0; v < sums; ++v)
        acc[v] = muladd(load_floats(row + k + v * kFloatLanes), load_floats(x + k + v * kFloatLanes), acc[v]);
    float lanes[kFloatLanes], sum = 0.0f;
    store(lanes, (acc[0] + acc[1]) + (acc[2] + acc[3]));
    for (int lane = 0; lane < kFloatLanes; ++lane) sum += lanes[lane];
    for (; k < depth; ++k) sum += row[k] * x[k];
    out[r] -= sum;
  }
}

void subtract_rows(const float* rows, Index stride, Index count, const float* factors, Index first,
                   Index last, float* out) {
  constexpr int together = 4;
  Index r = 0;
  for (; r + together <= count; r += together) {
    const float* row = rows + r * stride;
    Index k = first;
    for (; k + kFloatLanes <= last; k += kFloatLanes) {
      FloatVec sum = load_floats(out + k);
      for (int i = 0; i < together; ++i)
        sum = sum - splat_float(factors[r + i]) * load_floats(row + i * stride + k);
      store(out + k, sum);
    }
    for (; k < last; ++k)
      for (int i = 0; i < together; ++i) out[k] -= factors[r + i] * row[i * stride + k];
  }
  for (; r < count; ++r)
    for (Index k = first; k < last; ++k) out[k] -= factors[r] * rows[r * stride + k];
}

// The sum of products of two rows that are short.
float dot(const float* x, const float* y, Index count) {
  float sum = 0.0f;
  for (Index k = 0; k < count; ++k) sum += x[k] * y[k];
  return sum;
}

bool factor_corner(float* A, Index stride, Index n, float* inverse) {
  // Column by column of L: what is known of the columns to the right falls with each.
  for (Index j = 0; j < n; ++j) {
    float* row = A + j * stride;
    float rest = row[j] - dot(row, row, j);
    if (!(rest > 0.0f) || !std::isfinite(rest)) return false;
    row[j] = std::sqrt(rest);
    float reciprocal = 1.0f / row[j];
    for (Index i = j + 1; i < n; ++i) {
      float* other = A + i * stride;
      other[j] = (other[j] - dot(other, row, j)) * reciprocal;
    }
    // Row j of the inverse, from those above.
    float* to = inverse + j * kPanel;
    for (Index c = 0; c < kPanel; ++c) to[c] = 0.0f;
    for (Index k = 0; k < j; ++k)
      for (Index c = 0; c < kPanel; ++c) to[c] -= row[k] * inverse[k * kPanel + c];
    for (Index c = 0; c < kPanel; ++c) to[c] *= reciprocal;
    to[j] = reciprocal;
  }
  return true;
}

}  // namespace

void fill_cholesky(Table& table) {
  table.subtract_products = subtract_products;
  table.multiply_rows = multiply_rows;
  table.subtract_dots = subtract_dots;
  table.subtract_rows = subtract_rows;
  table.factor_corner = factor_corner;
}

}  // namespace mercer::MERCER_TILES
