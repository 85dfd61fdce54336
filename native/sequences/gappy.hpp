// Subsequences of n letters, weighted by decay to the power of the letters that they leave out.
#pragma once

#include <cstdint>

#include "table.hpp"

namespace mercer {

// Row i of `out` gets the sum of weights of every n-gram over letters 0 .. base - 1, in base `base` with the
// last letter first; letters of `codes` outside that range are passed over like gaps.  `power` is base^n.
void gappy_features(const std::int32_t* codes, const Index* starts, Index rows, Index n, Index base,
                    Index power, double decay, double* out, int threads);

// Some of the sequences codes[starts[i]] .. codes[starts[i + 1] - 1].
struct Chosen {
  const std::int32_t* codes;
  const Index* starts;
  const Index* rows;
  Index count;

  const std::int32_t* begin(Index i) const { return codes + starts[rows[i]]; }
  Index size(Index i) const { return starts[rows[i] + 1] - starts[rows[i]]; }
};

// out[i, j] = sum over all n-grams of the product of their weights in rows i of X and j of Y, without listing
// the n-grams.
void gappy_values(const Chosen& X, const Chosen& Y, Index n, double decay, double* out, int threads);

// What letters first .. last - 1 of x add to the value of one pair.  `ends` is carried from one call to the
// next: (n - 1) * y_size numbers, zeros at the beginning.
double gappy_steps(const std::int32_t* x, Index first, Index last, const std::int32_t* y, Index y_size,
                   Index n, double decay, double* ends);

}  // namespace mercer
