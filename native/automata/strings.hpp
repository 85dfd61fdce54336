// The weight of pairs of strings, position by position: no machine is built for a pair.
#pragma once

#include "classes.hpp"
#include "machine.hpp"
#include "watch.hpp"

namespace mercer::automata {

// Strings as codes of symbols, one after the other.
struct Strings {
  const Label* codes;
  const Index* starts;
};

// out[p] = T(x[rows[p]], y[cols[p]]) for a machine with no arc that has epsilon on both tapes.
template <class S>
void string_weights(const View& a, const Classes& classes, Strings x, Strings y, const Index* rows,
                    const Index* cols, Index count, double* out, int threads, Watch& watch);

}  // namespace mercer::automata
