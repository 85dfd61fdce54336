// What path sums are good for: the weight of a whole machine, and machines without silent arcs.
#pragma once

#include "machine.hpp"
#include "path_sums.hpp"
#include "watch.hpp"

namespace mercer::automata {

// Sum of the weights of all accepting paths; throws Divergence with states of the machine.
template <class S>
double total_weight(const View& a, Watch& watch);

// An equal machine with no arc that has epsilon on both tapes.
template <class S>
Machine without_epsilons(const View& a, Watch& watch);

// Whether no path that could be accepting comes twice to one state.
template <class S>
bool is_acyclic(const View& a);

}  // namespace mercer::automata
