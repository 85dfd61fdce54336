// Shortest paths of graphs, counted by the classes of their ends and by their length.
#pragma once

#include <cstdint>
#include <vector>

#include "../sequences/watched.hpp"
#include "batch.hpp"

namespace mercer {

// Ordered pairs of different nodes of the classes `from` and `to` whose distance is `length`.
struct PathCount {
  std::int32_t from, to;
  double length;
  Index count;
};

// The counts of each graph in the order of (from, to, length).  `classes` has a number for each node of the
// batch.  Without weights an arc has length 1; weights are >= 0.  A length is the least of the sums over
// paths, each taken in double precision from the first node on: it does not depend on the order of nodes.
std::vector<std::vector<PathCount>> count_paths(const GraphBatch& graphs, const std::int32_t* classes,
                                                const double* weights, int threads, const Look& look);

}  // namespace mercer
