#include "sequences/automaton.hpp"

#include <algorithm>
#include <bit>

namespace mercer {

bool Edges::number_symbols(const std::int32_t* text, Index n) {
  constexpr std::int32_t kMostCodes = 1 << 12;
  constexpr std::size_t kFew = 8, kCached = std::size_t{1} << 18;  // columns; entries of a table in cache
  columns_ = 0;
  column_.clear();
  symbols_.assign(1, 0);
  std::int32_t top = n > 0 ? *std::max_element(text, text + n) : -1;
  if (top >= kMostCodes) return false;
  column_.assign(static_cast<std::size_t>(top + 1), 0);
  for (Index i = 0; i < n; ++i) {
    std::size_t& column = column_[static_cast<std::size_t>(text[i])];
    if (column > 0) continue;
    column = symbols_.size();
    symbols_.push_back(text[i]);
  }
  return symbols_.size() <= kFew || symbols_.size() * 2 * static_cast<std::size_t>(n) <= kCached;
}

void Edges::reset(const std::int32_t* text, Index n) {
  auto length = static_cast<std::size_t>(n);
  rows_.clear(), first_.clear();
  if (number_symbols(text, n)) {
    columns_ = symbols_.size();
    rows_.reserve((2 * length + 1) * columns_);
    return;
  }
  std::size_t room = std::bit_ceil(5 * length + 2);  // for 3 n edges
  mask_ = room - 1;
  shift_ = 64 - std::countr_zero(room);
  table_.assign(room, {0, 0, kNone, kNone});
  first_.reserve(2 * length + 1);
}

void Edges::add_state() {
  if (columns_ > 0)
    rows_.insert(rows_.end(), columns_, kNone);
  else
    first_.push_back(kNone);
}

void Edges::put(State from, std::int32_t symbol, State target) {
  if (columns_ > 0) {
    rows_[static_cast<std::size_t>(from) * columns_ + column(symbol)] = target;
    return;
  }
  std::size_t slot = slot_of(from, symbol);
  if (table_[slot].target != kNone) {
    table_[slot].target = target;
    return;
  }
  std::int32_t& first = first_[static_cast<std::size_t>(from)];
  table_[slot] = {from, symbol, target, first};
  first = static_cast<std::int32_t>(slot);
}

SuffixAutomaton::State SuffixAutomaton::add(Index length, double occurrences) {
  nodes_.push_back({0, static_cast<std::int32_t>(length), occurrences});
  edges_.add_state();
  return static_cast<State>(nodes_.size() - 1);
}

void SuffixAutomaton::build(const std::int32_t* text, Index n) {
  edges_.reset(text, n);
  nodes_.clear();
  nodes_.reserve(2 * static_cast<std::size_t>(n) + 1);
  State last = add(0, 0.0);
  for (Index i = 0; i < n; ++i) last = extend(last, text[i]);
  sort_by_length(n);
  // The places of longer factors are places of their suffixes too.
  for (std::size_t k = order_.size(); k-- > 1;) node(link(order_[k])).occurrences += occurrences(order_[k]);
}

SuffixAutomaton::State SuffixAutomaton::extend(State last, std::int32_t symbol) {
  State made = add(length(last) + 1, 1.0);
  State p = last, q = Edges::kNone;
  for (;; p = link(p)) {
    q = next(p, symbol);
    if (q != Edges::kNone) break;
    edges_.put(p, symbol, made);
    if (p == 0) return made;  // a new symbol: all its suffixes are new but the empty one
  }
  if (length(q) == length(p) + 1) {
    node(made).link = q;
    return made;
  }
  // The shorter factors of q now end at one more place than the longer ones: they get a state of their own.
  State clone = add(length(p) + 1, 0.0);
  edges_.for_each(q, [&](std::int32_t other, State target) { edges_.put(clone, other, target); });
  node(clone).link = link(q);
  node(q).link = clone;
  node(made).link = clone;
  for (; next(p, symbol) == q; p = link(p)) {
    edges_.put(p, symbol, clone);
    if (p == 0) break;
  }
  return made;
}

// Counting sort; no factor is longer than the string.
void SuffixAutomaton::sort_by_length(Index n) {
  std::vector<State> begin(static_cast<std::size_t>(n) + 2, 0);
  for (const Node& each : nodes_) ++begin[static_cast<std::size_t>(each.length) + 1];
  for (std::size_t l = 1; l < begin.size(); ++l) begin[l] += begin[l - 1];
  order_.resize(nodes_.size());
  for (std::size_t s = 0; s < nodes_.size(); ++s)
    order_[static_cast<std::size_t>(begin[static_cast<std::size_t>(nodes_[s].length)]++)] =
        static_cast<State>(s);
}

SuffixAutomaton::State SuffixAutomaton::find(const std::int32_t* factor, Index n) const {
  State s = 0;
  for (Index i = 0; i < n && s != Edges::kNone; ++i) s = next(s, factor[i]);
  return s;
}

void Steps::build(const SuffixAutomaton& automaton, bool many) {
  automaton_ = &automaton;
  const Edges& edges = automaton.edges();
  columns_ = many ? edges.columns() : 0;
  if (columns_ == 0) return;
  table_.assign(static_cast<std::size_t>(automaton.states()) * columns_, {});
  for (State s : automaton.by_length()) {
    Place* row = table_.data() + static_cast<std::size_t>(s) * columns_;
    const Place* shorter = table_.data() + static_cast<std::size_t>(automaton.link(s)) * columns_;
    if (s != 0) std::copy(shorter, shorter + columns_, row);
    auto longest = static_cast<std::int32_t>(automaton.length(s) + 1);
    edges.for_each(s, [&](std::int32_t symbol, State to) { row[edges.column(symbol)] = {to, longest}; });
  }
}

Steps::Place Steps::link_step(Place at, std::int32_t symbol) const {
  State to = automaton_->next(at.state, symbol);
  while (to == Edges::kNone && at.state != 0) {
    at.state = automaton_->link(at.state);
    at.length = static_cast<std::int32_t>(automaton_->length(at.state));
    to = automaton_->next(at.state, symbol);
  }
  return to == Edges::kNone ? Place{} : Place{to, at.length + 1};
}

}  // namespace mercer
