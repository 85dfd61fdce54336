// The suffix automaton of a string: its factors, gathered into states.
//
// A state stands for the factors that end at the same places of the string.  They are suffixes of one
// another: the longest has length(s) symbols, the shortest one symbol more than the longest of link(s), whose
// factors are their next shorter suffixes.  State 0 holds the empty factor alone.  A string of n symbols has
// at most 2 n states and 3 n edges, and building takes O(n) steps (Blumer and others 1985).
#pragma once

#include <cstdint>
#include <vector>

#include "table.hpp"

namespace mercer {

// Edges of an automaton.  For small alphabets each state has a row of a table; for large ones edges are in an
// open hash table, those of one state in a chain, so that what is not there costs no memory.
class Edges {
 public:
  using State = std::int32_t;
  static constexpr State kNone = -1;

  // Empties the edges and makes ready for the automaton of a string.
  void reset(const std::int32_t* text, Index n);
  void add_state();
  State find(State from, std::int32_t symbol) const {
    return columns_ > 0 ? rows_[static_cast<std::size_t>(from) * columns_ + column(symbol)]
                        : table_[slot_of(from, symbol)].target;
  }
  void put(State from, std::int32_t symbol, State target);
  template <class Visit>
  void for_each(State from, Visit&& visit) const {
    if (columns_ > 0) {
      const State* row = rows_.data() + static_cast<std::size_t>(from) * columns_;
      for (std::size_t c = 1; c < columns_; ++c) {
        State target = row[c];
        if (target != kNone) visit(symbols_[c], target);
      }
      return;
    }
    for (std::int32_t slot = first_[static_cast<std::size_t>(from)]; slot != kNone;) {
      const Edge e = table_[static_cast<std::size_t>(slot)];
      visit(e.symbol, e.target);
      slot = e.next;
    }
  }

  // Columns of the table, or 0 if there is none; column 0 is for all symbols that the string has not.
  std::size_t columns() const { return columns_; }
  std::size_t column(std::int32_t symbol) const {
    auto code = static_cast<std::size_t>(symbol);
    return code < column_.size() ? column_[code] : 0;
  }

 private:
  struct Edge {
    State from;
    std::int32_t symbol;
    State target;
    std::int32_t next;  // slot of another edge of the same state
  };

  std::size_t columns_ = 0;
  std::vector<std::size_t> column_;    // by symbol
  std::vector<std::int32_t> symbols_;  // by column
  std::vector<State> rows_;

  std::vector<Edge> table_;
  std::vector<std::int32_t> first_;
  std::size_t mask_ = 0;
  int shift_ = 63;

  bool number_symbols(const std::int32_t* text, Index n);
  // The slot of an edge, or the free one where it would be.
  std::size_t slot_of(State from, std::int32_t symbol) const {
    auto key = static_cast<std::uint64_t>(static_cast<std::uint32_t>(from)) << 32;
    auto slot = ((key | static_cast<std::uint32_t>(symbol)) * 0x9E3779B97F4A7C15u) >> shift_;
    while (table_[slot].target != kNone && (table_[slot].from != from || table_[slot].symbol != symbol))
      slot = (slot + 1) & mask_;
    return slot;
  }
};

class SuffixAutomaton {
 public:
  using State = Edges::State;

  void build(const std::int32_t* text, Index n);

  Index states() const { return static_cast<Index>(nodes_.size()); }
  Index length(State s) const { return node(s).length; }
  State link(State s) const { return node(s).link; }
  const Edges& edges() const { return edges_; }
  State next(State s, std::int32_t symbol) const { return edges_.find(s, symbol); }
  // Number of places at which the factors of a state end.
  double occurrences(State s) const { return node(s).occurrences; }
  // The states, shorter ones first: links lead to earlier states of this order.
  const std::vector<State>& by_length() const { return order_; }

  // The state of a factor, or Edges::kNone if the string does not contain it.
  State find(const std::int32_t* factor, Index n) const;

 private:
  struct Node {
    State link;
    std::int32_t length;
    double occurrences;
  };
  std::vector<Node> nodes_;
  std::vector<State> order_;
  Edges edges_;

  const Node& node(State s) const { return nodes_[static_cast<std::size_t>(s)]; }
  Node& node(State s) { return nodes_[static_cast<std::size_t>(s)]; }
  State add(Index length, double occurrences);
  State extend(State last, std::int32_t symbol);
  void sort_by_length(Index n);
};

// Steps through an automaton with another string: after each symbol the state of the longest suffix that is a
// factor, and the length of that suffix.  Where a state has no edge, the first on its links that has one is
// meant.  With a table of all answers a step is one look into it, which pays off for several strings.
class Steps {
 public:
  using State = SuffixAutomaton::State;
  struct Place {
    State state = 0;
    std::int32_t length = 0;
  };

  // The automaton must stay where it is.
  void build(const SuffixAutomaton& automaton, bool many);

  // Calls visit(place) after every symbol of a string, where the place is not the empty factor.
  template <class Visit>
  void walk(const std::int32_t* text, Index n, Visit&& visit) const {
    Place at;
    for (Index i = 0; i < n; ++i) {
      at = columns_ > 0 ? table_step(at, text[i]) : link_step(at, text[i]);
      if (at.state != 0) visit(at);
    }
  }

 private:
  const SuffixAutomaton* automaton_ = nullptr;
  std::size_t columns_ = 0;
  std::vector<Place> table_;

  // The length in the table bounds that of the suffix: one more than the longest factor of the state whose
  // edge is taken.
  Place table_step(Place at, std::int32_t symbol) const {
    const Place& to =
        table_[static_cast<std::size_t>(at.state) * columns_ + automaton_->edges().column(symbol)];
    return {to.state, at.length < to.length ? at.length + 1 : to.length};
  }
  Place link_step(Place at, std::int32_t symbol) const;
};

}  // namespace mercer
