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

constexpr State kNowhere = -1;

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

// The states that arcs lead to from those with a weight in `begin`; skip(e) says which arcs do not count.
template <class Skip>
std::vector<char> reachable(State n_states, const Index* starts, const State* target, const double* begin,
                            double zero, Skip&& skip) {
  std::vector<char> marked(n_states);
  std::vector<State> stack;
  for (State q = 0; q < n_states; ++q)
    if (begin[q] != zero) {
      marked[q] = 1;
      stack.push_back(q);
    }
  while (!stack.empty()) {
    State q = stack.back();
    stack.pop_back();
    for (Index e = starts[q]; e < starts[q + 1]; ++e) {
      State to = target[e];
      if (to == kNowhere || marked[to] || skip(e)) continue;
      marked[to] = 1;
      stack.push_back(to);
    }
  }
  return marked;
}

}  // namespace

void sort_arcs(Machine& machine) {
  std::vector<Arc> arcs;
  for (std::size_t q = 0; q + 1 < machine.starts.size(); ++q) {
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

Machine machine_of(State n_states, Index n_arcs, const State* source, const State* target, const Label* input,
                   const Label* output, const double* weight) {
  Machine m;
  m.starts.assign(n_states + 1, 0);
  for (Index e = 0; e < n_arcs; ++e) ++m.starts[source[e] + 1];
  std::partial_sum(m.starts.begin(), m.starts.end(), m.starts.begin());
  m.target.resize(n_arcs);
  m.input.resize(n_arcs);
  m.output.resize(n_arcs);
  m.weight.resize(n_arcs);
  std::vector<Index> next(m.starts.begin(), m.starts.end() - 1);
  for (Index e = 0; e < n_arcs; ++e) {
    Index place = next[source[e]]++;
    m.target[place] = target[e];
    m.input[place] = input[e];
    m.output[place] = output[e];
    m.weight[place] = weight[e];
  }
  sort_arcs(m);
  return m;
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

std::vector<char> states_that_end(const View& a, double zero) {
  std::vector<State> sources(a.n_arcs());
  std::vector<Index> starts = by_target(
      a, [&](Index place, State q, Index e) { sources[place] = a.weight[e] == zero ? kNowhere : q; });
  return reachable(a.n_states, starts.data(), sources.data(), a.final, zero, [](Index) { return false; });
}

std::vector<char> useful_states(const View& a, double zero) {
  std::vector<char> useful = states_that_end(a, zero);
  std::vector<char> begun = reachable(a.n_states, a.starts, a.target, a.initial, zero,
                                      [&](Index e) { return a.weight[e] == zero; });
  for (State q = 0; q < a.n_states; ++q) useful[q] = useful[q] && begun[q];
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
