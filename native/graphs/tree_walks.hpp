// Sums over pairs of tree walks of equal shape in two graphs.
#pragma once

#include "walks.hpp"

namespace mercer {

// T_1(u, v) = N(u, v), and T_{d + 1}(u, v) = N(u, v) times the sum over all matchings of at most `arity` arcs
// of u with arcs of v, of the product of decay W(a, b) T_d(targets) over the matched arcs: the empty matching
// adds
// 1.  N is the similarity of nodes, W the product of weights and similarity of arcs.  out = sum of T_depth
// over all pairs of nodes.  The factors of first and last nodes are not used.
void tree_walk_sums(const WalkGraphs& X, const WalkGraphs& Y, const Similarities& nodes,
                    const Similarities& arcs, Index depth, Index arity, double decay, const Index* rows,
                    const Index* cols, Index count, double* out, int threads, const Look& look);

}  // namespace mercer
