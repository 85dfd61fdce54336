// Sums over the hidden paths of hidden Markov models: groups of sequences, and threads over them.
#pragma once

#include "../sequences/watched.hpp"
#include "../table.hpp"

namespace mercer {

void forward_backward(const HiddenChain& chain, const HiddenSums& sums, int threads, const Look& look);

}  // namespace mercer
