#include "components.hpp"

#include <algorithm>

namespace mercer::automata {
namespace {

// Tarjan's algorithm with a stack of its own: machines are deeper than the stack of a thread.
class Search {
 public:
  explicit Search(const Graph& graph)
      : graph_(graph), order_(graph.n_states(), 0), low_(graph.n_states()), result_() {
    result_.component.assign(graph.n_states(), -1);
  }

  Components run() {
    for (State q = 0; q < graph_.n_states(); ++q)
      if (order_[q] == 0) visit(q);
    turn_around();
    return std::move(result_);
  }

 private:
  struct Frame {
    State state;
    Index next;
  };

  void enter(State q) {
    order_[q] = low_[q] = ++count_;
    open_.push_back(q);
    frames_.push_back({q, graph_.starts[q]});
  }

  void visit(State root) {
    enter(root);
    while (!frames_.empty()) {
      auto& [q, next] = frames_.back();
      if (next < graph_.starts[q + 1]) {
        State to = graph_.target[next++];
        if (order_[to] == 0)
          enter(to);
        else if (result_.component[to] < 0)
          low_[q] = std::min(low_[q], order_[to]);
      } else {
        State done = q;
        frames_.pop_back();
        if (low_[done] == order_[done]) close(done);
        if (!frames_.empty()) low_[frames_.back().state] = std::min(low_[frames_.back().state], low_[done]);
      }
    }
  }

  void close(State root) {
    State number = result_.size();
    State q;
    do {
      q = open_.back();
      open_.pop_back();
      result_.component[q] = number;
      result_.states.push_back(q);
    } while (q != root);
    Index first = result_.starts.back(), last = static_cast<Index>(result_.states.size());
    bool cyclic = last - first > 1;
    for (Index e = graph_.starts[root]; e < graph_.starts[root + 1]; ++e) cyclic |= graph_.target[e] == root;
    result_.starts.push_back(last);
    result_.cyclic.push_back(cyclic);
  }

  // Components were closed last first.
  void turn_around() {
    State count = result_.size();
    Index total = graph_.n_states();
    for (State& c : result_.component) c = count - 1 - c;
    std::reverse(result_.states.begin(), result_.states.end());
    std::reverse(result_.cyclic.begin(), result_.cyclic.end());
    std::reverse(result_.starts.begin(), result_.starts.end());
    for (Index& start : result_.starts) start = total - start;
  }

  const Graph& graph_;
  std::vector<State> order_, low_, open_;
  std::vector<Frame> frames_;
  Components result_;
  State count_ = 0;
};

}  // namespace

bool Components::acyclic() const { return std::find(cyclic.begin(), cyclic.end(), 1) == cyclic.end(); }

Components strong_components(const Graph& graph) { return Search(graph).run(); }

}  // namespace mercer::automata
