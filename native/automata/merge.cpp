// Two states with equal endings and equal arcs have the same future: whoever comes to one may as well come to
// the other.  From the last states to the first, this makes them one.  States with equal beginnings have the
// same past, and are made one in the machine with its arcs turned around.
#include "merge.hpp"

#include <cstring>
#include <string>
#include <tuple>
#include <unordered_map>

#include "components.hpp"

namespace mercer::automata {
namespace {

struct Arc {
  Label input, output;
  State target;
  double weight;
  auto key() const { return std::tie(input, output, target); }
};

std::vector<State> topological_order(const View& a, bool& acyclic) {
  Graph graph;
  graph.starts.assign(a.starts, a.starts + a.n_states + 1);
  graph.target.assign(a.target, a.target + a.n_arcs());
  Components components = strong_components(graph);
  acyclic = components.acyclic();
  return std::move(components.states);
}

template <class S>
class FutureMerge {
 public:
  explicit FutureMerge(const View& a) : a_(a), same_as_(a.n_states) {}

  Machine run(const std::vector<State>& order) {
    for (auto q = order.rbegin(); q != order.rend(); ++q) visit(*q);
    // States were numbered from last to first.
    State count = static_cast<State>(rows_.size());
    Machine result;
    result.initial.assign(count, S::zero);
    for (State q = 0; q < a_.n_states; ++q) {
      double& begin = result.initial[count - 1 - same_as_[q]];
      begin = S::plus(begin, a_.initial[q]);
    }
    for (State i = count - 1; i >= 0; --i) {
      for (const Arc& arc : rows_[i].arcs)
        result.add_arc(count - 1 - arc.target, arc.input, arc.output, arc.weight);
      result.close_state();
      result.final.push_back(rows_[i].ending);
    }
    return result;
  }

 private:
  struct Row {
    double ending;
    std::vector<Arc> arcs;
  };

  void visit(State q) {
    Row row{a_.final[q], {}};
    for (Index e = a_.starts[q]; e < a_.starts[q + 1]; ++e)
      row.arcs.push_back({a_.input[e], a_.output[e], same_as_[a_.target[e]], a_.weight[e]});
    add_parallel(row.arcs);
    auto [place, is_new] = known_.try_emplace(signature(row), static_cast<State>(rows_.size()));
    same_as_[q] = place->second;
    if (is_new) rows_.push_back(std::move(row));
  }

  static void add_parallel(std::vector<Arc>& arcs) {
    std::stable_sort(arcs.begin(), arcs.end(), [](const Arc& s, const Arc& t) { return s.key() < t.key(); });
    std::size_t count = 0;
    for (const Arc& arc : arcs)
      if (count > 0 && arcs[count - 1].key() == arc.key())
        arcs[count - 1].weight = S::plus(arcs[count - 1].weight, arc.weight);
      else
        arcs[count++] = arc;
    arcs.resize(count);
  }

  static std::string signature(const Row& row) {
    std::string bytes(sizeof(double) + row.arcs.size() * 20, '\0');
    char* p = bytes.data();
    auto put = [&p](const auto& value) {
      std::memcpy(p, &value, sizeof value);
      p += sizeof value;
    };
    put(row.ending);
    for (const Arc& arc : row.arcs) {
      put(arc.input);
      put(arc.output);
      put(arc.target);
      put(arc.weight);
    }
    return bytes;
  }

  const View& a_;
  std::vector<State> same_as_;
  std::vector<Row> rows_;
  std::unordered_map<std::string, State> known_;
};

}  // namespace

template <class S>
Machine merged(Machine machine, bool& acyclic) {
  std::vector<State> order = topological_order(machine.view(), acyclic);
  if (!acyclic) return machine;
  std::reverse(order.begin(), order.end());
  Machine back = reversed(machine.view());
  Machine past = FutureMerge<S>(back.view()).run(order);
  // Merged machines are in topological order, here of the arcs turned around.
  Machine forth = reversed(past.view());
  for (State q = 0; q < forth.n_states(); ++q) order[q] = forth.n_states() - 1 - q;
  order.resize(forth.n_states());
  return FutureMerge<S>(forth.view()).run(order);
}

template Machine merged<Real>(Machine, bool&);
template Machine merged<Log>(Machine, bool&);
template Machine merged<Tropical>(Machine, bool&);
template Machine merged<Boolean>(Machine, bool&);

}  // namespace mercer::automata
