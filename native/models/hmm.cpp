#include "hmm.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "../dispatch.hpp"

namespace mercer {
namespace {

// Steps times states up to which sequences go side by side: the numbers of a group of eight stay in the
// second cache (measured: 10 states, lengths 200 to 5,000).  Longer ones go alone, with the same values.
constexpr Index kTogether = 1 << 13;

struct Scratch {
  std::vector<double> work;
};

// Doubles per lane: a(t) and e(t), scales, moves, b and w.
Index work_of(Index longest, Index states) {
  return longest * (2 * states + 1) + states * states + 2 * states;
}

}  // namespace

void forward_backward(const HiddenChain& chain, const HiddenSums& sums, int threads, const Look& look) {
  const Index S = chain.states, n = chain.sequences, lanes = table().lanes;
  auto length = [&](Index s) { return chain.starts[s + 1] - chain.starts[s]; };
  std::vector<Index> order(n);
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index s, Index t) { return length(s) > length(t); });
  Index alone = 0;
  while (alone < n && length(order[alone]) * S > kTogether) ++alone;
  const Index groups = alone + (n - alone + lanes - 1) / lanes;
  watched_loop<Scratch>(groups, threads, look, [&](Index group, Watch& watch, Scratch& scratch) {
    const bool one = group < alone;
    const Index begin = one ? group : alone + (group - alone) * lanes;
    const Index count = one ? 1 : std::min(lanes, n - begin);
    scratch.work.resize((one ? 1 : lanes) * work_of(length(order[begin]), S));
    Pause pause{[](void* context) { static_cast<Watch*>(context)->pause(); }, &watch};
    (one ? table().hidden_one : table().hidden_group)(chain, &order[begin], count, sums, scratch.work.data(),
                                                      pause);
    watch.pause();
  });
}

}  // namespace mercer
