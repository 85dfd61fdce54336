// The suffix automaton of a string: its factors, gathered into states.
//
// A state stands for the factors that end at the same places of the string.  They are suffixes of one
// another: the longest has length[s] symbols, the shortest one symbol more than the longest of link[s], whose
// factors are their next shorter suffixes.  State 0 holds the empty factor alone.  A string of n symbols has
// at most 2 n states and 3 n edges, and building takes O(n) steps (Blumer and others 1985).
#pragma once

#include <cstdint>
#include <vector>

#include "table.hpp"

namespace mercer {

// Edges of an automaton in an open hash table, with the edges of one state in a chain.  No alphabet is too
// large for it, and what is not there costs no memory.
class Edges {
 public:
  using State = std::int32_t;
  static constexpr State kNone = -1;

  // Empties the table and makes room for that many edges of that many states.
  void reset(std::size_t edges, std::size_t states);
  void add_state() { first_.push_back(kNone); }
  State find(State from, std::int32_t symbol) const {
    for (std::size_t slot = hash(from, symbol);; slot = (slot + 1) & mask_) {
      const Edge& e = table_[slot];
      if (e.target == kNone || (e.from == from && e.symbol == symbol)) return e.target;
    }
  }
  void put(State from, std::int32_t symbol, State target);
  template <class Visit>
  void for_each(State from, Visit&& visit) const {
    for (std::int32_t slot = first_[static_cast<std::size_t>(from)]; slot != kNone;) {
      const Edge e = table_[static_cast<std::size_t>(slot)];
      visit(e.symbol, e.target);
      slot = e.next;
    }
  }

 private:
  struct Edge {
    State from;
    std::int32_t symbol;
    State target;
    std::int32_t next;  // slot of another edge of the same state
  };
  std::vector<Edge> table_;
  std::vector<std::int32_t> first_;
  std::size_t mask_ = 0;
  int shift_ = 63;

  std::size_t hash(State from, std::int32_t symbol) const {
    auto key = static_cast<std::uint64_t>(static_cast<std::uint32_t>(from)) << 32;
    return ((key | static_cast<std::uint32_t>(symbol)) * 0x9E3779B97F4A7C15u) >> shift_;
  }
};

class SuffixAutomaton {
 public:
  using State = Edges::State;

  void build(const std::int32_t* text, Index n);

  Index states() const { return static_cast<Index>(link_.size()); }
  Index length(State s) const { return length_[static_cast<std::size_t>(s)]; }
  State link(State s) const { return link_[static_cast<std::size_t>(s)]; }
  State next(State s, std::int32_t symbol) const { return edges_.find(s, symbol); }
  template <class Visit>
  void for_each_edge(State s, Visit&& visit) const {
    edges_.for_each(s, visit);
  }
  // Number of places at which the factors of a state end.
  double occurrences(State s) const { return occurrences_[static_cast<std::size_t>(s)]; }
  // The states, shorter ones first: links lead to earlier states of this order.
  const std::vector<State>& by_length() const { return order_; }

  // The state of a factor, or Edges::kNone if the string does not contain it.
  State find(const std::int32_t* factor, Index n) const;

 private:
  std::vector<State> link_;
  std::vector<std::int32_t> length_;
  std::vector<double> occurrences_;
  std::vector<State> order_;
  Edges edges_;

  State add(Index length, double occurrences);
  State extend(State last, std::int32_t symbol);
  void finish();
};

// Steps through an automaton with another string: after each symbol the state of the longest suffix that is a
// factor, and the length of that suffix.  Where a state has no edge, the first on its links that has one is
// meant: for small alphabets all answers are in a table, and a step is one look into it.
class Steps {
 public:
  using State = SuffixAutomaton::State;
  struct Place {
    State state = 0;
    std::int32_t length = 0;
  };

  // The automaton is that of the text and must stay where it is.
  void build(const SuffixAutomaton& automaton, const std::int32_t* text, Index n);

  // Calls visit(place) after every symbol of a string, where the place is not the empty factor.
  template <class Visit>
  void walk(const std::int32_t* text, Index n, Visit&& visit) const {
    Place at;
    if (columns_ > 0) {
      for (Index i = 0; i < n; ++i) {
        auto code = static_cast<std::size_t>(text[i]);
        // `length` of an entry bounds the suffix: no longer than the longest factor of the state left, plus
        // one
        const Place& to = table_[static_cast<std::size_t>(at.state) * columns_ +
                                 (code < column_.size() ? column_[code] : 0)];
        at = {to.state, at.length < to.length ? at.length + 1 : to.length};
        if (at.state != 0) visit(at);
      }
    } else {
      for (Index i = 0; i < n; ++i) {
        at = slow_step(at, text[i]);
        if (at.state != 0) visit(at);
      }
    }
  }

 private:
  const SuffixAutomaton* automaton_ = nullptr;
  std::size_t columns_ = 0;          // symbols of the text and one for all others; 0 without a table
  std::vector<std::size_t> column_;  // of a symbol
  std::vector<Place> table_;

  bool has_table(const std::int32_t* text, Index n);
  Place slow_step(Place at, std::int32_t symbol) const;
};

}  // namespace mercer
