// Subgraphs of a few nodes, counted.  Graphs are taken as simple and undirected: an arc is an edge whatever
// its direction, parallel edges are one, self-loops are none.
#pragma once

#include <cstdint>

#include "../sequences/watched.hpp"
#include "batch.hpp"

namespace mercer {

// Patterns that need not be induced: a copy may have more edges than the pattern.  The order is part of the
// interface: src/mercer/kernels/graphs/graphlet_types.py mirrors it.
enum Pattern : int { kEdge, kWedge, kTriangle, kStar, kPath, kPaw, kCycle, kDiamond, kClique, kPatternCount };

// Copies of each pattern in each graph; what it says of those with four nodes counts only if `four`.
void count_patterns(const GraphBatch& graphs, bool four, Index* counts, int threads, const Look& look);

// Sets of `size` nodes, 2 to 5, that induce a connected subgraph, by type.  Nodes are taken in some order
// 0, 1, ...; `types[edges]` is the type of the subgraph where bit j (j - 1) / 2 + i of `edges` says whether
// i < j are adjacent.  Row i of `counts` has `n_types` numbers.  With `at_nodes` there is a row for each node
// of the batch instead: the sets that it is in.
void count_connected(const GraphBatch& graphs, Index size, const std::int32_t* types, Index n_types,
                     bool at_nodes, Index* counts, int threads, const Look& look);

// Given sets of `size` nodes of one graph, connected or not, by type.
void count_sets(const GraphBatch& graphs, Index graph, Index size, const std::int32_t* sets, Index n_sets,
                const std::int32_t* types, Index* counts);

}  // namespace mercer
