// Matches at the same position of two sequences, or at positions a few symbols apart.
#pragma once

#include "string_pairs.hpp"

namespace mercer {

// A run of r matching symbols ends r substrings that match, one of each length up to r: gains[min(r, degree)]
// is the sum of their weights.  Positions that differ by s count shifts[s] times.
struct DegreeRule {
  const double* gains;  // degree + 1 numbers, the first 0
  Index degree;
  const double* shifts;  // shift + 1 numbers
  Index shift;
};

void weighted_degree(const PairList& pairs, const DegreeRule& rule, double* values, int threads,
                     const Look& look);

}  // namespace mercer
