// The forward-backward recursion of hidden Markov models, scaled at every step so that no length underflows.
#pragma once

#include <cstdint>

#include "../sequences/watched.hpp"

namespace mercer {

// Sequences one after the other; sequence s has the steps starts[s] to starts[s + 1] - 1.
struct HiddenChain {
  const double* start;        // states
  const double* transitions;  // states x states, from row to column
  const double* emissions;    // steps x states: likelihood of what is seen at a step, up to a factor
  const std::int64_t* starts;
  std::int64_t sequences;
  std::int64_t states;
};

// With a(t) the forward and b(t) the backward variables of Rabiner (1989), a(t) scaled to the sum 1:
//   log_likelihoods[s]   sum over t of log c(t), where c(t) is the sum before scaling; -infinity if some c(t)
//   is 0 posteriors           steps x states: P(state at t | sequence), 0 if the sequence is impossible moves
//   sequences x states x states: expected numbers of transitions
void forward_backward(const HiddenChain& chain, double* log_likelihoods, double* posteriors, double* moves,
                      int threads, const Look& look);

}  // namespace mercer
