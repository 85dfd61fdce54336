// A state of the composition is a tuple (q_0, q_1, ..., q_n) with a filter between each machine and all those
// on its left, taken as one: ((q_0, q_1, f_1), q_2, f_2), ...  Tuples are numbered by nested pairs.
//
// Filters.  Where the left side writes epsilon and the right side reads epsilon, the steps of a pair of paths
// could be put in many orders, and a sum over paths would count them all.  The filter allows one: both move
// together as long as both can, then the rest of one of them moves alone.
//
//   step                                      allowed in filter   new filter
//   both move on a symbol                     0, 1, 2             0
//   both move, left writes and right reads ε  0                   0
//   right moves alone, reads ε                0, 1                1
//   left moves alone, writes ε                0, 2                2
#include "compose.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>

namespace mercer::automata {
namespace {

constexpr int kNone = 0, kRight = 1, kLeft = 2;
constexpr Index kExpansionsPerWatch = 256;

// Entries of a table of all triples: up to here it is smaller and faster than a table of those that occur.
constexpr Index kMostTriples = Index{1} << 25;

// Numbers of triples (left, right, filter) in the order in which they were first seen.
class PairTable {
 public:
  // Numbers of `left` are below `lefts`, where that is known (not 0), and those of `right` below `rights`.
  PairTable(Index lefts, Index rights) : rights_(rights) {
    if (lefts > 0 && lefts <= kMostTriples / 3 / std::max<Index>(rights, 1)) {
      all_.reset(static_cast<State*>(std::calloc(lefts * rights * 3 + 1, sizeof(State))));
      if (!all_) throw std::bad_alloc();
    } else {
      slots_.assign(1 << 6, Slot{0, -1});
    }
  }

  State intern(State left, State right, int filter) {
    std::uint64_t key = (static_cast<std::uint64_t>(left) << 32) | (static_cast<std::uint32_t>(right) << 2) |
                        static_cast<std::uint32_t>(filter);
    if (all_) {
      State& number = all_[(left * rights_ + right) * 3 + filter];
      return (number > 0 ? number : number = append(key) + 1) - 1;
    }
    for (std::size_t i = hash(key);; i = (i + 1) & (slots_.size() - 1)) {
      Slot& slot = slots_[i];
      if (slot.number < 0) return insert(slot, key);
      if (slot.key == key) return slot.number;
    }
  }
  // A number for a triple that does not occur otherwise.
  State append(State left, State right) {
    return append((static_cast<std::uint64_t>(left) << 32) | (static_cast<std::uint32_t>(right) << 2));
  }
  State size() const { return static_cast<State>(keys_.size()); }
  State left(State number) const { return static_cast<State>(keys_[number] >> 32); }
  State right(State number) const { return static_cast<State>((keys_[number] >> 2) & 0x3fffffff); }
  int filter(State number) const { return static_cast<int>(keys_[number] & 3); }

 private:
  struct Slot {
    std::uint64_t key;
    State number;
  };
  struct Free {
    void operator()(State* p) const { std::free(p); }
  };

  std::size_t hash(std::uint64_t key) const {
    return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15u) >> shift_);
  }
  State append(std::uint64_t key) {
    if (keys_.size() >= (1u << 30) - 1) throw std::length_error("a composition has more than 2^30 states");
    keys_.push_back(key);
    return size() - 1;
  }
  State insert(Slot& slot, std::uint64_t key) {
    State number = append(key);
    slot = {key, number};
    if (keys_.size() * 2 > slots_.size()) grow();
    return number;
  }
  void grow() {
    --shift_;
    slots_.assign(slots_.size() * 2, Slot{0, -1});
    for (State number = 0; number < size(); ++number) {
      std::size_t i = hash(keys_[number]);
      while (slots_[i].number >= 0) i = (i + 1) & (slots_.size() - 1);
      slots_[i] = {keys_[number], number};
    }
  }

  Index rights_;
  int shift_ = 58;                      // 64 - log2 of the number of slots
  std::unique_ptr<State[], Free> all_;  // number + 1 of every triple; zero pages cost nothing
  std::vector<Slot> slots_;             // open addressing, at most half full
  std::vector<std::uint64_t> keys_;
};

// Where the arcs of a state that read epsilon begin and end, and whether arcs write epsilon.
struct Layout {
  std::vector<Index> epsilon, symbols;
  std::vector<char> writes_epsilon;

  explicit Layout(const View& a) : epsilon(a.n_states), symbols(a.n_states), writes_epsilon(a.n_states) {
    for (State q = 0; q < a.n_states; ++q) {
      const Label *first = a.input + a.starts[q], *last = a.input + a.starts[q + 1];
      epsilon[q] = std::lower_bound(first, last, 0) - a.input;
      symbols[q] = std::lower_bound(first, last, 1) - a.input;
      writes_epsilon[q] =
          std::find(a.output + a.starts[q], a.output + a.starts[q + 1], 0) != a.output + a.starts[q + 1];
    }
  }
};

// What the machines on the left have done in this step.  With a class on both tapes, `copies` says whether
// both stand for one symbol; on the arcs of a machine they always do.
struct Move {
  Label input, output;
  bool moved, copies;
  double weight;
};

template <class S>
class Composition {
 public:
  Composition(const std::vector<View>& machines, Classes& classes, Watch& watch)
      : machines_(machines),
        layouts_(machines.begin(), machines.end()),
        here_(machines.size()),
        next_(machines.size()),
        filter_(machines.size()),
        next_filter_(machines.size()),
        classes_(classes),
        watch_(watch) {
    sort_firsts();
    for (std::size_t t = 1; t < machines.size(); ++t)
      tables_.emplace_back(t == 1 ? machines[0].n_states : 0, machines[t].n_states);
  }

  Machine run() {
    begin(0, S::one);
    for (State number = 0; number < top().size(); ++number) {
      if (number % kExpansionsPerWatch == 0) watch_.check();
      expand(number);
      result_.close_state();
    }
    result_.initial.resize(top().size(), S::zero);
    return std::move(result_);
  }

 private:
  PairTable& top() { return tables_.back(); }
  PairTable& table(std::size_t t) { return tables_[t - 1]; }

  void sort_firsts() {
    const View& a = machines_[0];
    for (Index e = a.starts[0]; e < a.starts[a.n_states]; ++e)
      firsts_.push_back(
          {a.target[e], {a.input[e], a.output[e], true, a.input[e] < 0 && a.output[e] < 0, a.weight[e]}});
    for (State q = 0; q < a.n_states; ++q)
      std::stable_sort(firsts_.begin() + (a.starts[q] - a.starts[0]),
                       firsts_.begin() + (a.starts[q + 1] - a.starts[0]),
                       [](const First& s, const First& t) { return s.move.output < t.move.output; });
  }

  // Makes all tuples of initial states.
  void begin(std::size_t level, double weight) {
    if (level == machines_.size()) {
      intern();  // every tuple is new: initial weights come in the order of numbers
      result_.initial.push_back(weight);
      return;
    }
    const View& a = machines_[level];
    for (State q = 0; q < a.n_states; ++q) {
      if (a.initial[q] == S::zero) continue;
      next_[level] = q;
      next_filter_[level] = kNone;
      begin(level + 1, S::times(weight, a.initial[q]));
    }
  }

  // Number of the tuple next_.
  State intern() {
    State number = next_[0];
    bool left_writes_epsilon = layouts_[0].writes_epsilon[number];
    for (std::size_t t = 1; t < machines_.size(); ++t) {
      State q = next_[t];
      int filter = next_filter_[t];
      // A filter that forbids only what cannot be is none: fewer states.
      if (filter == kRight && !left_writes_epsilon) filter = kNone;
      if (filter == kLeft && layouts_[t].epsilon[q] == layouts_[t].symbols[q]) filter = kNone;
      number = table(t).intern(number, q, filter);
      left_writes_epsilon |= layouts_[t].writes_epsilon[q] != 0;
    }
    return number;
  }

  void expand(State number) {
    std::size_t last = machines_.size() - 1;
    if (top().right(number) == kHalfway) {
      const Half& half = halves_[top().left(number)];
      result_.add_arc(half.target, 0, half.output, S::one);
      result_.final.push_back(S::zero);
      return;
    }
    double ending = S::one;
    State rest = number;
    for (std::size_t t = last; t > 0; --t) {
      here_[t] = table(t).right(rest);
      filter_[t] = table(t).filter(rest);
      rest = table(t).left(rest);
    }
    here_[0] = rest;
    for (std::size_t t = 0; t <= last; ++t) ending = S::times(ending, machines_[t].final[here_[t]]);
    result_.final.push_back(ending);

    next_[0] = here_[0];
    extend(1, {0, 0, false, false, S::one});
    cursor_ = layouts_[1].symbols[here_[1]];
    const Index* starts = machines_[0].starts;
    for (Index e = starts[here_[0]]; e < starts[here_[0] + 1]; ++e) {
      const First& first = firsts_[e - starts[0]];
      next_[0] = first.target;
      extend(1, first.move);
    }
  }

  // All that machines t, t + 1, ... can do together with the move of those on their left.
  void extend(std::size_t t, const Move& left) {
    if (t == machines_.size()) {
      if (left.moved) emit(left);
      return;
    }
    const View& a = machines_[t];
    const Layout& layout = layouts_[t];
    State q = here_[t];
    int filter = filter_[t];
    if (!left.moved) {
      stay(t, filter, left);
      if (filter != kLeft)
        for (Index e = layout.epsilon[q]; e < layout.symbols[q]; ++e) step(t, e, kRight, left);
    } else if (left.output == 0) {
      if (filter != kRight) stay(t, kLeft, left);
      if (filter == kNone)
        for (Index e = layout.epsilon[q]; e < layout.symbols[q]; ++e) step(t, e, kNone, left);
    } else if (left.output > 0) {
      for (Index e = a.starts[q]; e < layout.epsilon[q]; ++e)
        if (classes_.contains(a.input[e], left.output)) step(t, e, kNone, left);
      for (Index e = find(t, left.output); e < a.starts[q + 1] && a.input[e] == left.output; ++e)
        step(t, e, kNone, left);
    } else {
      for (Index e = a.starts[q]; e < layout.epsilon[q]; ++e) step(t, e, kNone, left);
      for (Index e = layout.symbols[q]; e < a.starts[q + 1]; ++e)
        if (classes_.contains(left.output, a.input[e])) step(t, e, kNone, left);
    }
  }

  // The first arc of machine t that reads the symbol or a later one.
  Index find(std::size_t t, Label symbol) {
    const Label* input = machines_[t].input;
    Index end = machines_[t].starts[here_[t] + 1];
    if (t > 1) return std::lower_bound(input + layouts_[t].symbols[here_[t]], input + end, symbol) - input;
    while (cursor_ < end && input[cursor_] < symbol) ++cursor_;  // symbols come in order
    return cursor_;
  }

  void stay(std::size_t t, int filter, const Move& left) {
    next_[t] = here_[t];
    next_filter_[t] = filter;
    extend(t + 1, {left.input, 0, left.moved, false, left.weight});
  }

  // Machine t takes arc e, which fits what the left side writes.
  void step(std::size_t t, Index e, int filter, const Move& left) {
    const View& a = machines_[t];
    if (a.weight[e] == S::zero) return;
    Label read = a.input[e], written = a.output[e];
    bool arc_copies = read < 0 && written < 0;
    Move move{left.input, written, true, false, S::times(left.weight, a.weight[e])};
    if (left.output < 0 || read < 0) {
      Label both = left.output > 0 ? left.output : read > 0 ? read : classes_.meet(left.output, read);
      if (both < 0 && !left.copies && !arc_copies && !S::idempotent) throw InfiniteSum();
      if (left.copies) move.input = both;
      if (arc_copies) move.output = both;
      move.copies = left.copies && arc_copies;
    }
    next_[t] = a.target[e];
    next_filter_[t] = filter;
    extend(t + 1, move);
  }

  void emit(const Move& move) {
    if (move.weight == S::zero) return;  // too small for a number
    State to = intern();
    // Two independent classes on one arc would look like a copy: one symbol after the other then.
    if (move.input < 0 && move.output < 0 && !move.copies) {
      halves_.push_back({move.output, to});
      to = top().append(static_cast<State>(halves_.size() - 1), kHalfway);
      result_.add_arc(to, move.input, 0, move.weight);
    } else {
      result_.add_arc(to, move.input, move.output, move.weight);
    }
  }

  // In the top table, (i, kHalfway) is the state in the midst of halves_[i].
  static constexpr State kHalfway = 0x3fffffff;
  struct Half {
    Label output;
    State target;
  };

  struct First {
    State target;
    Move move;
  };

  const std::vector<View>& machines_;
  std::vector<First> firsts_;  // arcs of the first machine, by source and output
  Index cursor_ = 0;           // where the second machine's arcs stand that read what was written last
  std::vector<Layout> layouts_;
  std::vector<PairTable> tables_;  // table(t) joins machine t to those before it
  std::vector<State> here_, next_;
  std::vector<int> filter_, next_filter_;
  std::vector<Half> halves_;
  Classes& classes_;
  Watch& watch_;
  Machine result_;
};

}  // namespace

template <class S>
Machine compose(const std::vector<View>& machines, Classes& classes, Watch& watch) {
  return Composition<S>(machines, classes, watch).run();
}

template Machine compose<Real>(const std::vector<View>&, Classes&, Watch&);
template Machine compose<Log>(const std::vector<View>&, Classes&, Watch&);
template Machine compose<Tropical>(const std::vector<View>&, Classes&, Watch&);
template Machine compose<Boolean>(const std::vector<View>&, Classes&, Watch&);

}  // namespace mercer::automata
