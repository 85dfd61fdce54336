// The strings that a transducer writes for given strings, each with the sum of the weights of its paths.
//
// Outputs are kept in one tree, so that a string is a number.  A path is followed only while it may still
// write: the rest of it, which reads without writing, is a factor that has been summed beforehand (the tail).
// So the transducers that count patterns take time proportional to the length of the string.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "classes.hpp"
#include "machine.hpp"
#include "watch.hpp"

namespace mercer::automata {

// A string has more outputs than can be listed, or than the caller wants to wait for.
struct TooManyOutputs : std::exception {};

inline constexpr std::size_t kMostOutputs = std::size_t{1} << 21;
inline constexpr std::size_t kMostNodes = std::size_t{1} << 23;

struct Entry {
  std::int32_t node;
  double weight;
};

// Paths that have come to one position, by the place of their state in an order of the states.
struct Front {
  std::vector<std::vector<Entry>> paths;
  std::vector<std::uint64_t> taken;  // one bit per place that has paths: large machines have few such places

  void resize(std::size_t places) { paths.resize(places), taken.assign((places + 63) / 64, 0); }
  void add(std::size_t place, Entry path) {
    taken[place / 64] |= std::uint64_t{1} << place % 64;
    paths[place].push_back(path);
  }
  void clear();
};

class Outputs {
 public:
  // The machine, with real weights, must outlive this.  It has no arcs with epsilon on both tapes, its arcs
  // with epsilon as input form no cycle, and a class of symbols stands on the output tape only to copy the
  // input.
  Outputs(View machine, Classes classes);

  // The outputs of one string, by node.  Gives up after `limit` steps, each of which takes one path along an
  // arc.
  void read(const Label* codes, Index length, Index limit, std::vector<Entry>& found, Watch& watch);

  // Steps taken so far.
  Index steps = 0;

  // The tree: node 0 is the empty string, node i + 1 is that of parents[i] followed by symbols[i].
  std::vector<std::int32_t> parents;
  std::vector<Label> symbols;

 private:
  template <class Use>
  void each_arc(State q, Label symbol, Use&& use) const;
  void sum_tails(const Label* codes, Index length);
  double tail(Index position, State q) const {
    return tail_number_[q] < 0 ? 0.0 : tails_[tail_row(position) + tail_number_[q]];
  }
  // Tails are needed at every position where something may be written; without that, two rows will do.
  Index tail_row(Index position) const { return (order_.empty() ? position & 1 : position) * n_tails_; }
  std::int32_t child(std::int32_t node, Label symbol);
  void order_states();
  void mark_states();

  View machine_;
  Classes classes_;
  std::vector<Index> empty_, named_;  // first arcs of each state that read nothing, and that read a symbol
  std::vector<State> order_;          // states that may still write; arcs that read nothing lead forward
  std::vector<char> writes_;
  std::vector<std::size_t> place_;         // of the states that may still write, in their order
  std::vector<std::int32_t> tail_number_;  // of the states from which paths may end without writing, else -1
  Index n_tails_ = 0;
  std::vector<double> tails_;
  Front here_, next_;
  std::unordered_map<std::uint64_t, std::int32_t> children_;
};

// Outputs of many strings: those of string i are the entries from starts[i] to starts[i + 1].
struct Listed {
  const Index* starts;
  const std::int32_t* nodes;
  const double* weights;
};

// out[i * columns + j] = sum over nodes of the weights of string rows[i] of x times those of string cols[j]
// of y. Nodes of y are numbered by table as those of x are, which are below width; -1 stands for none of
// them.
void inner_products(Listed x, const Index* rows, Index n_rows, Listed y, const Index* cols, Index n_cols,
                    const std::int32_t* table, Index width, double* out, int threads, Watch& watch);

}  // namespace mercer::automata
