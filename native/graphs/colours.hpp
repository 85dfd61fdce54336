// Colour refinement: nodes are told apart by what they are and by what their neighbours are.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace mercer {

using Index = std::int64_t;

// Arcs in compressed rows: node v has those from starts[v] to starts[v + 1], each with the node at its other
// end and the code of its label.
struct ArcRows {
  const Index* starts;
  const Index* ends;
  const std::int32_t* codes;
};

// Keys one after the other: key i has the words from starts[i] to starts[i + 1].
struct ColourKeys {
  const std::int64_t* words;
  const Index* starts;
  Index count;
};

struct NewKeys {
  std::vector<std::int64_t> words;
  std::vector<Index> starts{0};
};

// The same arcs by the nodes that they lead to, those of one node by where they come from.  Returns whether
// the lists are equal: then every arc has its reverse.
bool transpose_arcs(const ArcRows& arcs, Index nodes, Index* starts, Index* ends, std::int32_t* codes);

// One round of refinement.  The key of a node is its colour, then the sorted pairs (label, colour) of its
// out-arcs, and if those of its in-arcs differ (`in` is null if they never do), -1 and those.  A node whose
// key is known gets its number as colour; new keys are numbered after these in the order of the nodes, and
// returned.  Keys are compared word by word.  `pause` is called every some hundred nodes.
NewKeys refine_colours(const ArcRows& out, const ArcRows* in, Index nodes, const std::int32_t* colours,
                       const ColourKeys& known, std::int32_t* refined, const std::function<void()>& pause);

}  // namespace mercer
