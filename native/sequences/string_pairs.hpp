// Recursions over many pairs of sequences at once, as many pairs as a vector has lanes.
//
// The recursions are in native/tiles/subsequences.cpp and native/tiles/string_pairs.cpp.  Here pairs are put
// into lanes, groups of lanes onto threads, and the results of the lanes back into their places. Neighbouring
// pairs share a group: the caller orders them by length.  A result depends on its pair alone.
#pragma once

#include "../table.hpp"
#include "watched.hpp"

namespace mercer {

// Sequence i is codes[starts[i]] .. codes[starts[i + 1]].
struct Coded {
  const std::int32_t* codes;
  const Index* starts;
  Index length(Index i) const { return starts[i + 1] - starts[i]; }
};

// Pairs of a sequence of X and one of Y, by their numbers.
struct PairList {
  Coded X, Y;
  const Index* rows;
  const Index* cols;
  Index count;
};

// Sums over the common subsequences of each length: of length k for pair p, sums[p * n + k - 1] times 2 to
// exponents[...], which is 0 unless the plain sum overflows.
void subsequences(const PairList& pairs, const SubsequenceRule& rule, double* sums, double* exponents,
                  int threads, const Look& look);

// Sums over the local alignments of each pair, without the empty one.
void local_alignments(const PairList& pairs, const LocalAlignmentRule& rule, double* sums, double* exponents,
                      int threads, const Look& look);

// Least costs of edit scripts.
void edits(const PairList& pairs, const EditRule& rule, double* costs, int threads, const Look& look);

}  // namespace mercer
