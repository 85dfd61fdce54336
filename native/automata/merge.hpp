// Fewer states for the same weights.
#pragma once

#include "machine.hpp"

namespace mercer::automata {

// Makes states with the same future one, and states with the same past; parallel arcs are added up.  Machines
// with cycles come back as they are.  Without cycles, arcs of the result lead to higher numbers only.
template <class S>
Machine merged(Machine machine, bool& acyclic);

}  // namespace mercer::automata
