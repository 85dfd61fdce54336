#include "machine.hpp"

#include <numeric>
#include <tuple>

namespace mercer::automata {
namespace {

struct Arc {
  Label input, output;
  State target;
  double weight;

  bool operator<(const Arc& other) const {
    return std::tie(input, output, target, weight) <
           std::tie(other.input, other.output, other.target, other.weight);
  }
};

// Marks what can be reached from the marked states, which are on the stack, along arcs that are not zero.
void spread(const View& a, double zero, std::vector<State>& stack, std::vector<char>& marked) {
  while (!stack.empty()) {
    State q = stack.back();
    stack.pop_back();
    for (Index e = a.starts[q]; e < a.starts[q + 1]; ++e) {
      State to = a.target[e];
      if (marked[to] || a.weight[e] == zero) continue;
      marked[to] = 1;
      stack.push_back(to);
    }
  }
}

std::vector<char> reachable(const View& a, const double* begin, double zero) {
  std::vector<char> marked(a.n_states);
  std::vector<State> stack;
  for (State q = 0; q < a.n_states; ++q)
    if (begin[q] != zero) {
      marked[q] = 1;
      stack.push_back(q);
    }
  spread(a, zero, stack, marked);
  return marked;
}

// Calls put(place, q, e) for every arc e, which leaves q, with its place when arcs are ordered by target;
// returns where the arcs of each target begin.
template <class Put>
std::vector<Index> by_target(const View& a, Put&& put) {
  std::vector<Index> starts(a.n_states + 1, 0);
  for (Index e = a.starts[0]; e < a.starts[a.n_states]; ++e) ++starts[a.target[e] + 1];
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  std::vector<Index> next(starts.begin(), starts.end() - 1);
  for (State q = 0; q < a.n_states; ++q)
    for (Index e = a.starts[q]; e < a.starts[q + 1]; ++e) put(next[a.target[e]]++, q, e);
  return starts;
}

}  // namespace

void sort_arcs(Machine& machine) {
  std::vector<Arc> arcs;
  for (State q = 0; q < machine.n_states(); ++q) {
    Index first = machine.starts[q], last = machine.starts[q + 1];
    arcs.clear();
    for (Index e = first; e < last; ++e)
      arcs.push_back({machine.input[e], machine.output[e], machine.target[e], machine.weight[e]});
    if (std::is_sorted(arcs.begin(), arcs.end())) continue;
    std::sort(arcs.begin(), arcs.end());
    for (Index e = first; e < last; ++e) {
      const Arc& arc = arcs[e - first];
      machine.input[e] = arc.input;
      machine.output[e] = arc.output;
      machine.target[e] = arc.target;
      machine.weight[e] = arc.weight;
    }
  }
}

Machine reversed(const View& a) {
  Machine r;
  Index count = a.n_arcs();
  r.target.resize(count);
  r.input.resize(count);
  r.output.resize(count);
  r.weight.resize(count);
  r.starts = by_target(a, [&](Index place, State q, Index e) {
    r.target[place] = q;
    r.input[place] = a.input[e];
    r.output[place] = a.output[e];
    r.weight[place] = a.weight[e];
  });
  r.initial.assign(a.final, a.final + a.n_states);
  r.final.assign(a.initial, a.initial + a.n_states);
  return r;
}

std::vector<char> useful_states(const View& a, double zero) {
  std::vector<char> useful = reachable(a, a.initial, zero);
  std::vector<State> sources(a.n_arcs());
  std::vector<double> weights(a.n_arcs());
  std::vector<Index> starts = by_target(a, [&](Index place, State q, Index e) {
    sources[place] = q;
    weights[place] = a.weight[e];
  });
  View back{a.n_states, starts.data(), sources.data(), nullptr, nullptr, weights.data(), nullptr, nullptr};
  std::vector<char> ends = reachable(back, a.final, zero);
  for (State q = 0; q < a.n_states; ++q) useful[q] = useful[q] && ends[q];
  return useful;
}

Machine restricted(const View& a, const std::vector<char>& keep, double zero) {
  std::vector<State> number(a.n_states, -1);
  State count = 0;
  for (State q = 0; q < a.n_states; ++q)
    if (keep[q]) number[q] = count++;
  Machine r;
  r.starts.reserve(count + 1);
  r.initial.reserve(count);
  r.final.reserve(count);
  for (State q = 0; q < a.n_states; ++q) {
    if (!keep[q]) continue;
    for (Index e = a.starts[q]; e < a.starts[q + 1]; ++e)
      if (keep[a.target[e]] && a.weight[e] != zero)
        r.add_arc(number[a.target[e]], a.input[e], a.output[e], a.weight[e]);
    r.close_state();
    r.initial.push_back(a.initial[q]);
    r.final.push_back(a.final[q]);
  }
  return r;
}

}  // namespace mercer::automata
