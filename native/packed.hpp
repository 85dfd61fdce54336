// Products with a symmetric matrix that is held as the tiles on and below its diagonal.
//
// Tiles lie one after the other, row of tiles by row of tiles, each with kTileRows x kTileCols numbers;
// beyond the last row and column of the matrix they have zeros.  A tile is read once for both of its
// products,
//
//   out_i += K_ij V_j   and   out_j += K_ij' V_i .
//
// Tiles are taken in rounds, as the games of a tournament are: in one round no row of tiles takes part twice,
// so that threads never write to the same place.  What goes into one number is added in the order of the
// rounds: the bits do not depend on the number of threads.
#pragma once

#include "grid.hpp"

namespace mercer {

// Entry (i, j) is data[i * down + j * across].
template <class T>
struct Strided {
  T* data;
  Index down, across;
};

// out = K V, both with `width` columns and as many rows as K.
Status packed_product(const double* tiles, Index rows, Index width, Strided<const double> V,
                      Strided<double> out, int threads) noexcept;

}  // namespace mercer
