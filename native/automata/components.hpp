// Strongly connected components of a graph.
#pragma once

#include <vector>

#include "semirings.hpp"

namespace mercer::automata {

// Weighted arcs by source.
struct Graph {
  std::vector<Index> starts{0};
  std::vector<State> target;
  std::vector<double> weight;

  State n_states() const { return static_cast<State>(starts.size() - 1); }
};

// Components in topological order: arcs between components lead to later ones.
struct Components {
  std::vector<State> component;  // of each state
  std::vector<State> states;     // by component
  std::vector<Index> starts{0};  // component c holds states[starts[c]] to states[starts[c + 1]]
  std::vector<char> cyclic;      // whether a component has a cycle, be it of one arc

  State size() const { return static_cast<State>(cyclic.size()); }
  bool acyclic() const;
};

Components strong_components(const Graph& graph);

}  // namespace mercer::automata
