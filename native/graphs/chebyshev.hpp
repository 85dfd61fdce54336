// Functions of a sparse symmetric matrix M times columns, by a Chebyshev expansion.
//
//   sum_k c_k T_k(A) V,   A = (M - center I) / radius,   T_{k+1} = 2 A T_k - T_{k-1}
//
// One pass over M for each k computes the product, the recurrence and the sum for all columns at once.  Rows
// are independent of each other, so that the number of threads changes no bit.
#pragma once

#include <cstdint>

#include "../sequences/watched.hpp"

namespace mercer {

// Compressed rows of a square matrix.
struct SparseMatrix {
  const std::int64_t* starts;
  const std::int32_t* columns;
  const double* values;
  std::int64_t size;
};

struct Expansion {
  const double* coefficients;
  std::int64_t count;
  double center, radius;
};

// Columns of one call: what a row needs stays in registers.
constexpr int kMostColumns = 16;

// Blocks are of shape (size, width), rows contiguous, 1 <= width <= kMostColumns.  `current` holds V on entry
// and is overwritten, as is `previous`; `sum` holds the result on return.
void chebyshev(const SparseMatrix& matrix, const Expansion& expansion, int width, double* current,
               double* previous, double* sum, int threads, const Look& look);

}  // namespace mercer
