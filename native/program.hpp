// A kernel expression as a list of steps over tile registers, run tile by tile.
//
//   for each tile (OpenMP)
//     steps that fill   squared distances, dot products, ...  whole tile   table().tiles<T>().fill
//     elementwise runs  scale, exp, multiply, ...             a few rows   table().steps
//     sink              store and mirror, or multiply by V    whole tile
//
// How the output is cut depends on its shape alone, and one thread adds what goes into one number, in order:
// the bits do not depend on the number of threads.  See docs/engine.md.
#pragma once

#include <vector>

#include "table.hpp"

namespace mercer {

// Contiguous rows or, with indices, canonical compressed ones.
struct Rows {
  const void *data, *indices, *indptr;
};

// The left and the right points: both float32 (`single`) or both float64, both dense or both compressed, the
// latter with indices of 32 or of 64 bits (`wide`).  Or both are zeros and ones, packed into words.
struct Points {
  Rows left, right;
  Index cols;
  bool single, wide;
  Index words = 0;  // of a packed row

  bool compressed() const { return left.indptr != nullptr; }
};

struct Program {
  std::vector<Step> steps;
  std::vector<double> parameters;
  std::vector<Points> points;
  std::vector<const double*> rowwise, colwise;
  std::vector<Output<const double>> opaque;
  Index rows, cols;  // of the output
  Index registers;   // how many; the result is in register 0
  bool symmetric;    // the right points are the left ones
  Index edge;        // rows and columns of a tile, at most kTileRows
  double cost;       // elementary operations per number of the output
  bool to_single;    // the result is rounded to float32: squared distances need not be exact beyond that

  Index tiles_down() const { return (rows + edge - 1) / edge; }
  Index tiles_across() const { return (cols + edge - 1) / edge; }
  Index tiles() const {
    return symmetric ? tiles_down() * (tiles_down() + 1) / 2 : tiles_down() * tiles_across();
  }
};

// What a run ended with: the number of the step whose check failed, or one of these.
inline constexpr Index kDone = -1, kNoMemory = -2;

// Tiles first .. last - 1, row by row; of a symmetric matrix those on and below the diagonal, and their
// mirror images.  With `slots`, which a symmetric matrix cannot have, row i goes to row slots[i] of `out`.
template <class T>
Index run_dense(const Program& program, Index first, Index last, Output<T> out, const Index* slots,
                int threads) noexcept;

// The same tiles of a symmetric matrix, without mirror images, one after the other as native/packed.hpp wants
// them; p.edge must be kTileRows.
Index run_packed(const Program& program, Index first, Index last, double* tiles, int threads) noexcept;

// Adds to `sums` the products with V, which has `width` columns.
//
// Lane l owns the rows of tiles lanes[l] .. lanes[l + 1] - 1, cut into `parts` parts from left to right.  The
// tiles of a part are taken in order; this call takes the tiles first .. last - 1 of every part.  Part q of
// all lanes adds to the array that lies q times rows x width numbers further in `sums`, where no two lanes
// meet. With `half` there is one part: a lane computes tiles on and below the diagonal only, and adds the
// products with the tile and with its transpose to an array of its own.
Index run_product(const Program& program, const std::vector<Index>& lanes, Index parts, bool half,
                  Index first, Index last, const double* V, Index width, double* sums, int threads) noexcept;

}  // namespace mercer
