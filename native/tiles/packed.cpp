// Products with a tile of a symmetric matrix: one reading serves the tile and its mirror image.
//
// Some rows of the tile are taken together.  Their sums, and what their numbers are multiplied by for the
// mirror image, stay in registers while the columns go by: each number of the tile is loaded once and used
// for two multiply-adds per vector.
#include "simd.hpp"
#include "tiles.hpp"

namespace mercer::MERCER_TILES {
namespace {

// As many rows as leave registers for the rest, with two vectors of columns.
constexpr int kTogether = kLanes == 8 ? 4 : 2;

// Tiles come from memory, in an order that the processor does not foresee: rows this far ahead are asked for.
constexpr Index kAhead = 8, kLineNumbers = 8;

template <bool below, int vectors>
void multiply_columns(const double* tile, const double* left, const double* right, Index width, double* out,
                      double* mirrored) {
  for (Index i = 0; i < kTileRows; i += kTogether) {
    const double* rows = tile + i * kTileCols;
    const double* next = i + kAhead < kTileRows ? rows + kAhead * kTileCols : rows;
    Vec sum[kTogether][vectors], own[kTogether][vectors];
    for (int r = 0; r < kTogether; ++r)
      for (int v = 0; v < vectors; ++v) {
        sum[r][v] = load(out + (i + r) * width + v * kLanes);
        own[r][v] = load(left + (i + r) * width + v * kLanes);
      }
    for (Index line = 0; line < kTileCols; line += kLineNumbers) {
      for (int r = 0; r < kTogether; ++r) prefetch(next + r * kTileCols + line);
      for (Index j = line; j < line + kLineNumbers; ++j) {
        Vec other[vectors], mirror[vectors];
        for (int v = 0; v < vectors; ++v) {
          other[v] = load(right + j * width + v * kLanes);
          if constexpr (below) mirror[v] = load(mirrored + j * width + v * kLanes);
        }
        for (int r = 0; r < kTogether; ++r) {
          Vec number = splat(rows[r * kTileCols + j]);
          for (int v = 0; v < vectors; ++v) {
            sum[r][v] = muladd(number, other[v], sum[r][v]);
            if constexpr (below) mirror[v] = muladd(number, own[r][v], mirror[v]);
          }
        }
        if constexpr (below)
          for (int v = 0; v < vectors; ++v) store(mirrored + j * width + v * kLanes, mirror[v]);
      }
    }
    for (int r = 0; r < kTogether; ++r)
      for (int v = 0; v < vectors; ++v) store(out + (i + r) * width + v * kLanes, sum[r][v]);
  }
}

template <bool below>
void multiply_packed(const double* tile, const double* left, const double* right, Index width, double* out,
                     double* mirrored) {
  constexpr Index two = 2 * kLanes;
  Index c = 0;
  for (; c + two <= width; c += two)
    multiply_columns<below, 2>(tile, left + c, right + c, width, out + c, mirrored + c);
  for (; c < width; c += kLanes)
    multiply_columns<below, 1>(tile, left + c, right + c, width, out + c, mirrored + c);
}

}  // namespace

void fill_packed(Table& table) {
  table.multiply_below = multiply_packed<true>;
  table.multiply_square = multiply_packed<false>;
}

}  // namespace mercer::MERCER_TILES
