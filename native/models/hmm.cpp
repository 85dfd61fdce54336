#include "hmm.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace mercer {
namespace {

using Index = std::int64_t;

struct Scratch {
  std::vector<double> scales, backward, weighted;
};

// y += factor x, over the states.
inline void add(double factor, const double* __restrict x, double* __restrict y, Index S) {
  for (Index j = 0; j < S; ++j) y[j] += factor * x[j];
}

// a(t) into the rows of `forward`, the sums before scaling into `scales`; false if the sequence is
// impossible.
bool forward_pass(const HiddenChain& chain, Index first, Index last, double* forward, double* scales,
                  Watch& watch) {
  const Index S = chain.states;
  for (Index t = first; t < last; ++t) {
    double* a = forward + t * S;
    const double* before = a - S;
    const double* seen = chain.emissions + t * S;
    if (t == first) {
      std::copy(chain.start, chain.start + S, a);
    } else {
      std::fill(a, a + S, 0.0);
      for (Index i = 0; i < S; ++i) add(before[i], chain.transitions + i * S, a, S);
    }
    double sum = 0;
    for (Index j = 0; j < S; ++j) sum += a[j] *= seen[j];
    if (!(sum > 0)) return false;
    for (Index j = 0; j < S; ++j) a[j] /= sum;
    scales[t - first] = sum;
    if (t % 256 == 0) watch.pause();
  }
  return true;
}

// Turns a(t) into posteriors, from the last step to the first, and adds up the expected transitions.
void backward_pass(const HiddenChain& chain, const double* transposed, Index first, Index last,
                   double* posteriors, double* moves, Scratch& scratch, Watch& watch) {
  const Index S = chain.states;
  scratch.backward.assign(S, 1.0);
  scratch.weighted.resize(S);
  double *b = scratch.backward.data(), *w = scratch.weighted.data();
  std::fill(moves, moves + S * S, 0.0);
  for (Index t = last - 2; t >= first; --t) {
    double* a = posteriors + t * S;
    const double* seen = chain.emissions + (t + 1) * S;
    double scale = scratch.scales[t + 1 - first];
    for (Index j = 0; j < S; ++j) w[j] = seen[j] * b[j] / scale;
    std::fill(b, b + S, 0.0);
    for (Index j = 0; j < S; ++j) add(w[j], transposed + j * S, b, S);
    for (Index i = 0; i < S; ++i) add(a[i], w, moves + i * S, S);
    for (Index i = 0; i < S; ++i) a[i] *= b[i];
    if (t % 256 == 0) watch.pause();
  }
  for (Index k = 0; k < S * S; ++k) moves[k] *= chain.transitions[k];
}

}  // namespace

void forward_backward(const HiddenChain& chain, double* log_likelihoods, double* posteriors, double* moves,
                      int threads, const Look& look) {
  const Index S = chain.states;
  std::vector<double> transposed(S * S);
  for (Index i = 0; i < S; ++i)
    for (Index j = 0; j < S; ++j) transposed[j * S + i] = chain.transitions[i * S + j];
  watched_loop<Scratch>(chain.sequences, threads, look, [&](Index s, Watch& watch, Scratch& scratch) {
    Index first = chain.starts[s], last = chain.starts[s + 1];
    double* counted = moves + s * S * S;
    scratch.scales.resize(last - first);
    if (!forward_pass(chain, first, last, posteriors, scratch.scales.data(), watch)) {
      log_likelihoods[s] = -std::numeric_limits<double>::infinity();
      std::fill(posteriors + first * S, posteriors + last * S, 0.0);
      std::fill(counted, counted + S * S, 0.0);
      return;
    }
    double sum = 0;
    for (double c : scratch.scales) sum += std::log(c);
    log_likelihoods[s] = sum;
    backward_pass(chain, transposed.data(), first, last, posteriors, counted, scratch, watch);
  });
}

}  // namespace mercer
