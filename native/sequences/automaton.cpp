#include "sequences/automaton.hpp"

#include <algorithm>
#include <bit>

namespace mercer {

void Edges::reset(std::size_t edges, std::size_t states) {
  std::size_t room = std::bit_ceil(edges + edges / 2 + 2);  // at most two thirds full
  mask_ = room - 1;
  shift_ = 64 - std::countr_zero(room);
  table_.assign(room, {0, 0, kNone, kNone});
  first_.clear();
  first_.reserve(states);
}

void Edges::put(State from, std::int32_t symbol, State target) {
  std::size_t slot = hash(from, symbol);
  while (table_[slot].target != kNone) {
    if (table_[slot].from == from && table_[slot].symbol == symbol) {
      table_[slot].target = target;
      return;
    }
    slot = (slot + 1) & mask_;
  }
  std::int32_t& first = first_[static_cast<std::size_t>(from)];
  table_[slot] = {from, symbol, target, first};
  first = static_cast<std::int32_t>(slot);
}

SuffixAutomaton::State SuffixAutomaton::add(Index length, double occurrences) {
  link_.push_back(0);
  length_.push_back(static_cast<std::int32_t>(length));
  occurrences_.push_back(occurrences);
  edges_.add_state();
  return static_cast<State>(link_.size() - 1);
}

void SuffixAutomaton::build(const std::int32_t* text, Index n) {
  auto room = static_cast<std::size_t>(n);
  edges_.reset(3 * room, 2 * room + 1);
  link_.clear(), length_.clear(), occurrences_.clear();
  State last = add(0, 0.0);
  for (Index i = 0; i < n; ++i) last = extend(last, text[i]);
  finish();
}

SuffixAutomaton::State SuffixAutomaton::extend(State last, std::int32_t symbol) {
  State made = add(length(last) + 1, 1.0);
  State p = last;
  State q = Edges::kNone;
  for (;; p = link(p)) {
    q = next(p, symbol);
    if (q != Edges::kNone) break;
    edges_.put(p, symbol, made);
    if (p == 0) return made;  // a new symbol: all its suffixes are new but the empty one
  }
  auto& made_link = link_[static_cast<std::size_t>(made)];
  if (length(q) == length(p) + 1) {
    made_link = q;
    return made;
  }
  // The shorter factors of q now end at one more place than the longer ones: they get a state of their own.
  State clone = add(length(p) + 1, 0.0);
  for_each_edge(q, [&](std::int32_t other, State target) { edges_.put(clone, other, target); });
  link_[static_cast<std::size_t>(clone)] = link(q);
  link_[static_cast<std::size_t>(q)] = clone;
  link_[static_cast<std::size_t>(made)] = clone;
  for (; next(p, symbol) == q; p = link(p)) {
    edges_.put(p, symbol, clone);
    if (p == 0) break;
  }
  return made;
}

void SuffixAutomaton::finish() {
  // Counting sort by length, then the places of longer factors are places of their suffixes too.
  std::vector<Index> begin(
      static_cast<std::size_t>(length_.empty() ? 1 : *std::max_element(length_.begin(), length_.end())) + 2,
      0);
  for (std::int32_t l : length_) ++begin[static_cast<std::size_t>(l) + 1];
  for (std::size_t l = 1; l < begin.size(); ++l) begin[l] += begin[l - 1];
  order_.resize(link_.size());
  for (std::size_t s = 0; s < link_.size(); ++s)
    order_[static_cast<std::size_t>(begin[static_cast<std::size_t>(length_[s])]++)] = static_cast<State>(s);
  for (std::size_t k = order_.size(); k-- > 1;) {
    auto s = static_cast<std::size_t>(order_[k]);
    occurrences_[static_cast<std::size_t>(link_[s])] += occurrences_[s];
  }
}

SuffixAutomaton::State SuffixAutomaton::find(const std::int32_t* factor, Index n) const {
  State s = 0;
  for (Index i = 0; i < n && s != Edges::kNone; ++i) s = next(s, factor[i]);
  return s;
}

bool Steps::has_table(const std::int32_t* text, Index n) {
  constexpr std::int32_t kMostCodes = 1 << 12;
  constexpr std::size_t kFew = 8, kCached = std::size_t{1} << 18;  // columns; entries
  columns_ = 0;
  column_.clear();
  std::int32_t top = -1;
  for (Index i = 0; i < n; ++i) top = std::max(top, text[i]);
  if (top >= kMostCodes) return false;
  column_.assign(static_cast<std::size_t>(top + 1), 0);
  std::size_t columns = 1;
  for (Index i = 0; i < n; ++i) {
    std::size_t& column = column_[static_cast<std::size_t>(text[i])];
    if (column == 0) column = columns++;
  }
  if (columns > kFew && columns * static_cast<std::size_t>(automaton_->states()) > kCached) return false;
  columns_ = columns;
  return true;
}

void Steps::build(const SuffixAutomaton& automaton, const std::int32_t* text, Index n) {
  automaton_ = &automaton;
  if (!has_table(text, n)) return;
  table_.assign(static_cast<std::size_t>(automaton.states()) * columns_, {});
  for (State s : automaton.by_length()) {
    Place* row = table_.data() + static_cast<std::size_t>(s) * columns_;
    const Place* fallback = table_.data() + static_cast<std::size_t>(automaton.link(s)) * columns_;
    if (s != 0) std::copy(fallback, fallback + columns_, row);
    auto longer = static_cast<std::int32_t>(automaton.length(s) + 1);
    automaton.for_each_edge(s, [&](std::int32_t symbol, State target) {
      row[column_[static_cast<std::size_t>(symbol)]] = {target, longer};
    });
  }
}

Steps::Place Steps::slow_step(Place at, std::int32_t symbol) const {
  State to = automaton_->next(at.state, symbol);
  while (to == Edges::kNone && at.state != 0) {
    at.state = automaton_->link(at.state);
    at.length = static_cast<std::int32_t>(automaton_->length(at.state));
    to = automaton_->next(at.state, symbol);
  }
  return to == Edges::kNone ? Place{} : Place{to, at.length + 1};
}

}  // namespace mercer
