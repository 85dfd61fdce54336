// Machines as arrays: arcs by source, and within a source by input label, output label, target and weight.
#pragma once

#include <vector>

#include "semirings.hpp"

namespace mercer::automata {

struct View {
  State n_states;
  const Index* starts;  // arcs of state q: from starts[q] to starts[q + 1]
  const State* target;
  const Label *input, *output;
  const double *weight, *initial, *final;

  Index n_arcs() const { return starts[n_states] - starts[0]; }
};

struct Machine {
  std::vector<Index> starts{0};
  std::vector<State> target;
  std::vector<Label> input, output;
  std::vector<double> weight, initial, final;

  State n_states() const { return static_cast<State>(initial.size()); }
  View view() const {
    return {n_states(),    starts.data(), target.data(),  input.data(),
            output.data(), weight.data(), initial.data(), final.data()};
  }
  void add_arc(State to, Label read, Label written, double w) {
    target.push_back(to);
    input.push_back(read);
    output.push_back(written);
    weight.push_back(w);
  }
  // Ends the arcs of the next state.
  void close_state() { starts.push_back(static_cast<Index>(target.size())); }
};

// Brings the arcs of every state into order.
void sort_arcs(Machine& machine);

// The machine of arcs that come in any order; initial and final weights are left to the caller.
Machine machine_of(State n_states, Index n_arcs, const State* source, const State* target, const Label* input,
                   const Label* output, const double* weight);

// The machine with every arc turned around.
Machine reversed(const View& a);

// From which states arcs that are not zero lead to a final one.
std::vector<char> states_that_end(const View& a, double zero);

// Which states lie on a path of arcs that are not zero from an initial to a final state.
std::vector<char> useful_states(const View& a, double zero);

// The machine of the states that are marked; arcs of weight zero go too.  Numbers keep their order.
Machine restricted(const View& a, const std::vector<char>& keep, double zero);

inline Machine trimmed(const View& a, double zero) { return restricted(a, useful_states(a, zero), zero); }

}  // namespace mercer::automata
