// Subsequences of n letters, weighted by decay to the power of the letters that they leave out.
#pragma once

#include <cstdint>

#include "table.hpp"

namespace mercer {

// Row i of `out` gets the sum of weights of every n-gram over letters 0 .. base - 1, in base `base` with the
// last letter first; letters of `codes` outside that range are passed over like gaps.  `power` is base^n.
void gappy_features(const std::int32_t* codes, const Index* starts, Index rows, Index n, Index base,
                    Index power, double decay, double* out, int threads);

// out[i, j] = sum over all n-grams of the product of their weights in rows i of X and j of Y, without listing
// the n-grams.  With `symmetric` only j <= i is filled.
void gappy_values(const std::int32_t* x_codes, const Index* x_starts, Index x_rows,
                  const std::int32_t* y_codes, const Index* y_starts, Index y_rows, bool symmetric, Index n,
                  double decay, double* out, int threads);

}  // namespace mercer
