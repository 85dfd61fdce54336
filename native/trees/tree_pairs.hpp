// Sums over the pairs of matching nodes of two trees.
//
// A tree comes as its distinct subtrees, children first, each with the number of times that it counts.  Two
// nodes match if their keys are equal: productions, or labels.  A result depends on its pair alone.
#pragma once

#include <cstdint>

#include "../sequences/watched.hpp"
#include "../table.hpp"

namespace mercer {

// Tree i has the subtrees starts[i] .. starts[i + 1].  Subtree s has the key keys[s], negative if it matches
// nothing, and the children children[child_starts[s]] .. children[child_starts[s + 1]], by their places in
// the stretch of the tree.  order[...] lists the places of a tree by key.
struct Forest {
  const Index* starts;
  const std::int32_t* keys;
  const std::int32_t* order;
  const double* counts;
  const Index* child_starts;
  const std::int32_t* children;
};

struct TreePairs {
  Forest X, Y;
  const Index* rows;
  const Index* cols;
  Index count;
};

// With decay d and gap decay g, a matching pair (u, v) adds its counts times
//   d prod_j (1 + D(u_j, v_j)) over the children, 1 for leaves, or, if `partial`,
//   d (g^2 + the sum over equally long subsequences of children of g^(spans) prod D(u_i, v_j)).
struct TreeRule {
  bool partial;
  double decay;
  double gap_decay;
};

// For pair p, sums[p] times 2 to exponents[p], which is 0 unless the plain sum overflows.  Throws
// std::bad_alloc if a pair of trees has more than `most` matching pairs.
void tree_pairs(const TreePairs& pairs, const TreeRule& rule, Index most, double* sums, double* exponents,
                int threads, const Look& look);

}  // namespace mercer
