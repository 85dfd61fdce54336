// Composition of two or more machines.
#pragma once

#include <vector>

#include "classes.hpp"
#include "machine.hpp"
#include "watch.hpp"

namespace mercer::automata {

// Thrown where two arcs meet in infinitely many symbols that no tape of the result shows.
struct InfiniteSum : std::exception {};

// The accessible part of machines[0] o machines[1] o ..., at least two; intermediate machines are not built.
// Labels of the result may name classes that this adds to `classes`.  Arcs of a state come in no order.
template <class S>
Machine compose(const std::vector<View>& machines, Classes& classes, Watch& watch);

}  // namespace mercer::automata
