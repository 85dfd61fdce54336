// Sums over rows of a matrix in memory.
#pragma once

#include "table.hpp"

namespace mercer {

// out[j] += sum_r factors[r] K[rows[r]][j] for n columns, in double precision; K has `stride` numbers from
// row to row.  Threads share the columns: the bits do not depend on how many there are.
template <class T>
void add_rows(const T* K, Index stride, Index count, const Index* rows, const double* factors, Index n,
              double* out, int threads);

}  // namespace mercer
