// Random Fourier features: products with the frequencies by BLAS, then cosines and sines, tile by tile.
#pragma once

#include "../grid.hpp"

namespace mercer {

// out[i][j] = scale cos(<x_i, w_j> + offset_j), or, without offsets, scale cos <x_i, w_j> and after all of
// these scale sin <x_i, w_j>.  Without frequencies, the rows of X are the phases <x_i, w_j>.  Tiles of fixed
// shape on several threads, BLAS held to one by the caller: the bits do not depend on how many there are.
template <class T>
Status fourier_features(Dense<double> X, Dense<double> frequencies, const double* offsets, double scale,
                        Output<T> out, int threads) noexcept;

}  // namespace mercer
