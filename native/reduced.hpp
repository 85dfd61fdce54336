// Rows of a Gaussian Gram matrix in reduced precision: single precision throughout, squared distances
// included.
//
// The implementation of reduced=True of a tile program whose steps are those of a Gaussian kernel on dense
// points. The general program computes squared distances in double precision, recomputes those that lose
// digits, and writes a tile of doubles between any two steps; here sums, powers and rounding stay in
// registers, which takes a third to a seventh of the time.  Values are off by about 2^-23 |x|^2 relative to
// themselves, where x is a point in units of sigma; a solver that uses them checks its result in double
// precision.  The value of a pair depends neither on the number of threads, nor on its place, nor on which of
// the two points is the row.
#pragma once

#include "table.hpp"

namespace mercer {

// The kernel 2^(-|x - y|^2 / 2) of `count` points x with n points y: row r goes to row slots[r] of `out`.
void fill_reduced(const float* x, Index count, const float* y, Index n, Index features, const Index* slots,
                  Output<float> out, int threads);

}  // namespace mercer
