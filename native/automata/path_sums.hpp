// Sums over all paths of a graph: x (1 + A + A^2 + ...) and (1 + A + A^2 + ...) y.
//
// Components are taken in topological order.  Within a cyclic one the equations d = x + d A are solved by
// eliminating state after state: where k is left out, its paths i -> k -> ... -> k -> j are added to those
// from i to j, with star(a_kk) for the rounds through k.  For weights that are not negative this never
// subtracts, except in star, and the sum converges exactly if star always exists; so for weights of both
// signs the elimination is done for their absolute values first.
#pragma once

#include <memory>
#include <vector>

#include "components.hpp"
#include "watch.hpp"

namespace mercer::automata {

// The sum over paths diverges, or is too close to that to be told apart; the cycle runs in these states.
struct Divergence : std::exception {
  std::vector<State> states;
  explicit Divergence(std::vector<State> states_) : states(std::move(states_)) {}
};

// A component is too large to be solved.
struct TooLarge : std::exception {
  Index size;
  explicit TooLarge(Index size_) : size(size_) {}
};

inline constexpr Index kLargestComponent = 8192;

// The equations of one component.
template <class S>
class Elimination {
 public:
  Elimination(const Graph& graph, const Components& components, State c, Watch& watch);

  // x becomes x (1 + A + A^2 + ...), or (1 + A + A^2 + ...) x.
  void solve_row(double* x) const;
  void solve_column(double* x) const;

 private:
  bool eliminate(double scale, Watch& watch);

  Index n_;
  std::vector<double> a_, star_;
};

template <class S>
class PathSums {
 public:
  PathSums(Graph graph, Watch& watch);

  const Graph& graph() const { return graph_; }
  const Components& components() const { return components_; }

  // In place, for a vector with one entry per state.
  void solve_row(std::vector<double>& x) const;
  void solve_column(std::vector<double>& x) const;

  // x is zero but for one state; `states` becomes those it reaches, in topological order of components.
  // Only states that are marked are looked at.  The entries of x at `states` are left to the caller to clear.
  void solve_from(State from, const std::vector<char>& marked, std::vector<double>& x,
                  std::vector<State>& states, std::vector<char>& seen) const;

 private:
  // Calls solve with the entries of x for the states of a cyclic component, one after the other.
  template <class Solve>
  void within(State c, std::vector<double>& x, Solve&& solve) const;
  bool leaves(State q, Index e) const {
    return components_.component[graph_.target[e]] != components_.component[q];
  }

  Graph graph_;
  Components components_;
  std::vector<std::unique_ptr<Elimination<S>>> eliminations_;  // of each component; null if it has no cycle
};

}  // namespace mercer::automata
