// A batch of graphs in compressed rows, as GraphBatch holds it.
#pragma once

#include <cstdint>

#include "../table.hpp"

namespace mercer {

// Graph i has the nodes node_starts[i] to node_starts[i + 1], node v the arcs arc_starts[v] to
// arc_starts[v + 1]; targets are numbers of nodes within their graph.
struct GraphBatch {
  const Index* node_starts;
  const Index* arc_starts;
  const std::int32_t* targets;
  Index count;

  Index size(Index graph) const { return node_starts[graph + 1] - node_starts[graph]; }
};

}  // namespace mercer
