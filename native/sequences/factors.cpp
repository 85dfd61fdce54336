#include "sequences/factors.hpp"

namespace mercer {

void FactorTable::build(const std::int32_t* text, Index n, const FactorWeights& weights, Index partners) {
  weights_ = &weights;
  length_ = n;
  now_ = 0;
  automaton_.build(text, n);
  constexpr Index kMany = 4;
  steps_.build(automaton_, partners >= kMany);
  mark_excluded();
  classes_.assign(static_cast<std::size_t>(automaton_.states()), {});
  for (State s : automaton_.by_length()) {
    if (s == 0) continue;
    Class& own = classes_[static_cast<std::size_t>(s)];
    own.link = automaton_.link(s);
    own.length = static_cast<std::int32_t>(automaton_.length(s));
    const Class& shorter = classes_[static_cast<std::size_t>(own.link)];
    own.chain = shorter.chain + automaton_.occurrences(own.link) * shorter.weight;
    own.weight = weigh(s, own.length);
  }
}

void FactorTable::mark_excluded() {
  excluded_.clear(), is_marked_.clear();
  for (Index k = 0; k < weights_->excluded.count; ++k) {
    State s = automaton_.find(weights_->excluded.begin(k), weights_->excluded.length(k));
    if (s == Edges::kNone) continue;
    excluded_.push_back({s, weights_->excluded.length(k)});
    is_marked_.resize(static_cast<std::size_t>(automaton_.states()), 0);
    is_marked_[static_cast<std::size_t>(s)] = 1;
  }
  std::sort(excluded_.begin(), excluded_.end());
}

// Weight of the factors of a state that have up to this number of symbols.
double FactorTable::weigh(State s, Index upto) const {
  Index low = automaton_.length(automaton_.link(s)) + 1;
  if (is_marked_.empty() || !is_marked_[static_cast<std::size_t>(s)]) return weights_->sum(low, upto);
  double total = 0.0;
  for (auto mark = std::lower_bound(excluded_.begin(), excluded_.end(), Mark{s, 0});
       mark != excluded_.end() && mark->state == s && mark->length <= upto; ++mark) {
    total += weights_->sum(low, mark->length - 1);
    low = mark->length + 1;
  }
  return total + weights_->sum(low, upto);
}

double FactorTable::distinct(const std::int32_t* text, Index n) {
  ++now_;
  met_.clear();
  steps_.walk(text, n, [&](Steps::Place at) {
    Class& c = classes_[static_cast<std::size_t>(at.state)];
    if (c.met != now_) {
      c.met = now_;
      c.shared = at.length;
      met_.push_back(at.state);
    } else if (c.shared < at.length) {
      c.shared = at.length;
    }
  });
  // With a factor the other string has its suffixes too: all factors of the states on the links.
  double total = weights_->empty;
  for (State s : met_) {
    for (State u = classes_[static_cast<std::size_t>(s)].link; u != 0;) {
      Class& c = classes_[static_cast<std::size_t>(u)];
      if (c.complete == now_) break;
      c.complete = now_;
      total += c.weight;
      u = c.link;
    }
  }
  for (State s : met_) {
    const Class& c = classes_[static_cast<std::size_t>(s)];
    if (c.complete != now_) total += c.shared == c.length ? c.weight : weigh(s, c.shared);
  }
  return total;
}

double FactorTable::counted(const std::int32_t* text, Index n) const {
  double total = weights_->empty * static_cast<double>(length_ + 1) * static_cast<double>(n + 1);
  steps_.walk(text, n, [&](Steps::Place at) {
    const Class& c = classes_[static_cast<std::size_t>(at.state)];
    double own = c.length == at.length ? c.weight : weigh(at.state, at.length);
    total += c.chain + automaton_.occurrences(at.state) * own;
  });
  return total;
}

void factors_block(Strings X, Strings Y, const FactorWeights& weights, bool counted, Index limit, double* out,
                   Index stride, int threads) {
  for_each_row<FactorTable>(X.count, threads, [&](Index i, FactorTable& table) {
    Index columns = std::clamp<Index>(limit + i, 0, Y.count);
    if (columns == 0) return;
    table.build(X.begin(i), X.length(i), weights, columns);
    for (Index j = 0; j < columns; ++j) {
      const std::int32_t* text = Y.begin(j);
      Index n = Y.length(j);
      out[i * stride + j] = counted ? table.counted(text, n) : table.distinct(text, n);
    }
  });
}

void factors_diagonal(Strings X, const FactorWeights& weights, bool counted, double* out, int threads) {
  for_each_row<FactorTable>(X.count, threads, [&](Index i, FactorTable& table) {
    table.build(X.begin(i), X.length(i), weights, 1);
    out[i] = counted ? table.counted(X.begin(i), X.length(i)) : table.distinct(X.begin(i), X.length(i));
  });
}

}  // namespace mercer
