// Sums over the hidden paths of hidden Markov models: groups of sequences, and threads over them.
#pragma once

#include "../sequences/watched.hpp"
#include "../table.hpp"

namespace mercer {

// The log-likelihood is NaN, and the other sums are 0, where floats do not hold the weights of all states and
// a transition is impossible: see native/tiles/hidden.cpp.  Positive numbers of the chain have to be at least
// 1e-100.
void forward_backward(const HiddenChain& chain, const HiddenSums& sums, int threads, const Look& look);

}  // namespace mercer
