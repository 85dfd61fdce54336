#include "sums.hpp"

#include <algorithm>
#include <tuple>

namespace mercer::automata {
namespace {

bool is_silent(const View& a, Index e) { return a.input[e] == 0 && a.output[e] == 0; }

template <class Choose>
Graph graph_of(const View& a, Choose&& choose) {
  Graph graph;
  for (State q = 0; q < a.n_states; ++q) {
    for (Index e = a.starts[q]; e < a.starts[q + 1]; ++e) {
      if (!choose(e)) continue;
      graph.target.push_back(a.target[e]);
      graph.weight.push_back(a.weight[e]);
    }
    graph.starts.push_back(static_cast<Index>(graph.target.size()));
  }
  return graph;
}

// Path sums of the trimmed part of a machine, where errors name the states of the machine.
template <class S, class Choose>
PathSums<S> sums_of(const View& part, const std::vector<char>& useful, Watch& watch, Choose&& choose) {
  try {
    return PathSums<S>(graph_of(part, choose), watch);
  } catch (Divergence& error) {
    std::vector<State> names;
    for (State q = 0; q < static_cast<State>(useful.size()); ++q)
      if (useful[q]) names.push_back(q);
    for (State& q : error.states) q = names[q];
    std::sort(error.states.begin(), error.states.end());
    throw;
  }
}

// From which states silent arcs lead to arcs that are not.
std::vector<char> speaking_states(const View& a, const Components& components) {
  std::vector<char> speaks(a.n_states);
  for (State c = components.size() - 1; c >= 0; --c) {
    const State *first = components.states.data() + components.starts[c],
                *last = components.states.data() + components.starts[c + 1];
    bool found = std::any_of(first, last, [&](State q) {
      for (Index e = a.starts[q]; e < a.starts[q + 1]; ++e)
        if (!is_silent(a, e) || speaks[a.target[e]]) return true;
      return false;
    });
    for (const State* q = first; found && q < last; ++q) speaks[*q] = 1;
  }
  return speaks;
}

struct Arc {
  Label input, output;
  State target;
  double weight;
  auto key() const { return std::tie(input, output, target); }
};

// Adds the arcs as those of the next state; parallel ones become one.
template <class S>
void add_merged(std::vector<Arc>& arcs, Machine& result) {
  std::stable_sort(arcs.begin(), arcs.end(), [](const Arc& a, const Arc& b) { return a.key() < b.key(); });
  for (std::size_t i = 0; i < arcs.size();) {
    const Arc& first = arcs[i];
    double sum = first.weight;
    for (++i; i < arcs.size() && arcs[i].key() == first.key(); ++i) sum = S::plus(sum, arcs[i].weight);
    if (sum != S::zero) result.add_arc(first.target, first.input, first.output, sum);
  }
  result.close_state();
}

// Collects for one state the arcs that it can take after silent ones.
template <class S>
class Closure {
 public:
  Closure(const View& a, const PathSums<S>& sums)
      : a_(a),
        sums_(sums),
        speaks_(speaking_states(a, sums.components())),
        x_(a.n_states, S::zero),
        seen_(a.n_states) {}

  std::vector<Arc>& arcs_of(State from) {
    arcs_.clear();
    if (!speaks_[from]) return arcs_;
    sums_.solve_from(from, speaks_, x_, reached_, seen_);
    for (State q : reached_) {
      for (Index e = a_.starts[q]; e < a_.starts[q + 1]; ++e)
        if (!is_silent(a_, e))
          arcs_.push_back({a_.input[e], a_.output[e], a_.target[e], S::times(x_[q], a_.weight[e])});
      x_[q] = S::zero;
    }
    return arcs_;
  }

 private:
  const View& a_;
  const PathSums<S>& sums_;
  std::vector<char> speaks_;
  std::vector<double> x_;
  std::vector<char> seen_;
  std::vector<State> reached_;
  std::vector<Arc> arcs_;
};

}  // namespace

template <class S>
double total_weight(const View& given, Watch& watch) {
  std::vector<char> useful = useful_states(given, S::zero);
  Machine part = restricted(given, useful, S::zero);
  PathSums<S> sums = sums_of<S>(part.view(), useful, watch, [](Index) { return true; });
  std::vector<double> x = part.initial;
  sums.solve_row(x);
  double total = S::zero;
  for (State q = 0; q < part.n_states(); ++q)  // infinity times zero is no number
    if (part.final[q] != S::zero) total = S::plus(total, S::times(x[q], part.final[q]));
  return total;
}

template <class S>
bool is_acyclic(const View& given) {
  Machine part = trimmed(given, S::zero);
  return strong_components(graph_of(part.view(), [](Index) { return true; })).acyclic();
}

template <class S>
Machine without_epsilons(const View& given, Watch& watch) {
  std::vector<char> useful = useful_states(given, S::zero);
  Machine part = restricted(given, useful, S::zero);
  View a = part.view();
  PathSums<S> sums = sums_of<S>(a, useful, watch, [&](Index e) { return is_silent(a, e); });
  std::vector<double> endings = part.final;
  sums.solve_column(endings);

  // States that only silent arcs lead to are left behind; the others are numbered as they are found.
  Machine result;
  std::vector<State> number(a.n_states, -1), found;
  auto number_of = [&](State q) {
    if (number[q] < 0) {
      number[q] = static_cast<State>(found.size());
      found.push_back(q);
    }
    return number[q];
  };
  for (State q = 0; q < a.n_states; ++q)
    if (a.initial[q] != S::zero) number_of(q);
  Closure<S> closure(a, sums);
  for (std::size_t next = 0; next < found.size(); ++next) {
    watch.check();
    State q = found[next];
    std::vector<Arc>& arcs = closure.arcs_of(q);
    for (Arc& arc : arcs) arc.target = number_of(arc.target);
    add_merged<S>(arcs, result);
    result.initial.push_back(a.initial[q]);
    result.final.push_back(endings[q]);
  }
  return trimmed(result.view(), S::zero);
}

template double total_weight<Real>(const View&, Watch&);
template double total_weight<Log>(const View&, Watch&);
template double total_weight<Tropical>(const View&, Watch&);
template double total_weight<Boolean>(const View&, Watch&);
template bool is_acyclic<Real>(const View&);
template bool is_acyclic<Log>(const View&);
template bool is_acyclic<Tropical>(const View&);
template bool is_acyclic<Boolean>(const View&);
template Machine without_epsilons<Real>(const View&, Watch&);
template Machine without_epsilons<Log>(const View&, Watch&);
template Machine without_epsilons<Tropical>(const View&, Watch&);
template Machine without_epsilons<Boolean>(const View&, Watch&);

}  // namespace mercer::automata
