// Cholesky factors in single precision, block column by block column.
//
//   A = L L',  row-major, L on and below the diagonal of the same array
//
// With H the rows and columns of a block on the diagonal, B those before it and R rows below,
//
//   L_HH L_HH' = A_HH - L_HB L_HB'        L_RH = (A_RH - L_RB L_HB') L_HH^-T .
//
// The second formula is as well what solves L x = r, with r as a row below.  Blocks on the diagonal are
// factored in the same way, by blocks as wide as a panel.  Threads share the rows; what is done with a row
// depends on nothing else: the bits are the same for every number of threads.
#pragma once

#include "table.hpp"

namespace mercer {

// Blocks `first` to `last` (not included) of the factor of a matrix of n rows, given those before; false if
// it is not positive definite.  L_HH^-T of block h goes to inverses[h], kFactorBlock^2 numbers, row-major.
bool eliminate(float* A, Index n, Index first, Index last, float* inverses, int threads);

// rows = rows L^-T, for `count` rows of n numbers: x = L^-1 x for each.  Less is done for those that begin
// with many zeros, if they are neighbours.
void solve_rows(const float* L, Index n, const float* inverses, float* rows, Index count, int threads);

// The same for few rows, and x = L^-T x for one: each reads L once, where it is.
void solve_forward(const float* L, Index n, const float* inverses, float* rows, Index count, int threads);
void solve_backward(const float* L, Index n, const float* inverses, float* x, int threads);

}  // namespace mercer
