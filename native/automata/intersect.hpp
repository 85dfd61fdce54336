// Automata by the dozen: what a transducer writes for each of many strings, and the weights of intersections.
#pragma once

#include "classes.hpp"
#include "machine.hpp"
#include "strings.hpp"
#include "watch.hpp"

namespace mercer::automata {

// Automata with no epsilon and no classes, one after the other.  Arcs of an acyclic one lead to higher
// numbers.
struct Packed {
  const Index* states;  // automaton i holds the states from states[i] to states[i + 1]
  const Index* starts;  // arcs of each of all states
  const State* target;  // numbered within its automaton
  const Label* label;
  const double *weight, *initial, *final;
  const std::uint8_t* acyclic;

  View operator[](Index i) const {
    Index first = states[i];
    return {static_cast<State>(states[i + 1] - first),
            starts + first,
            target,
            label,
            label,
            weight,
            initial + first,
            final + first};
  }
};

// For each string x the automaton of z -> T(x, z).
template <class S>
std::vector<Machine> output_automata(const View& transducer, const Classes& classes, Strings x, Index count,
                                     std::vector<std::uint8_t>& acyclic, int threads, Watch& watch);

// The automata in the form that intersections want; `acyclic` says which of them have no cycle.
template <class S>
std::vector<Machine> prepared_automata(const std::vector<View>& automata, std::vector<std::uint8_t>& acyclic,
                                       int threads, Watch& watch);

// out[p] = total weight of the intersection of a[rows[p]] and b[cols[p]].
template <class S>
void intersect_weights(const Packed& a, const Packed& b, const Index* rows, const Index* cols, Index count,
                       double* out, int threads, Watch& watch);

}  // namespace mercer::automata
