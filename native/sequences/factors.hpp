// Sums over the common factors of two strings, in time linear in their lengths.
#pragma once

#include <algorithm>
#include <vector>

#include "sequences/automaton.hpp"
#include "sequences/rows.hpp"

namespace mercer {

// Weights r^l of the lengths first <= l <= last: tables of r^l and of 1 + r + ... + r^(k-1).  A stretch of
// lengths is a product of two entries, so that nothing cancels, and integers are exact.
struct Geometric {
  const double* powers;
  const double* sums;
  Index first, last;

  double sum(Index low, Index high) const {
    low = std::max(low, first), high = std::min(high, last);
    return low > high ? 0.0 : powers[low] * sums[high - low + 1];
  }
};

struct FactorWeights {
  Geometric usual, longer;
  double empty;      // of the empty factor
  Strings excluded;  // factors that do not count; none of them empty

  double sum(Index low, Index high) const { return usual.sum(low, high) + longer.sum(low, high); }
};

// The factors of one string, ready to be compared with those of many others.
class FactorTable {
 public:
  // `partners` is the number of strings that it will be compared with.
  void build(const std::int32_t* text, Index n, const FactorWeights& weights, Index partners);

  // Sum of the weights of the common factors, each counted once.
  double distinct(const std::int32_t* text, Index n);
  // Sum over the common factors of weight times occurrences here times occurrences there.
  double counted(const std::int32_t* text, Index n) const;

 private:
  using State = SuffixAutomaton::State;
  struct Mark {
    State state;
    Index length;
    bool operator<(const Mark& other) const {
      return state != other.state ? state < other.state : length < other.length;
    }
  };

  // What a comparison with another string looks at, state by state.
  struct Class {
    State link;
    std::int32_t length;          // of the longest factor
    std::int32_t shared;          // of the longest factor that the other string has been seen to share
    std::uint32_t met, complete;  // comparison in which a factor was met, and in which all were
    double weight;                // of all factors
    double chain;                 // of those of all states on the links, each times its occurrences
  };

  const FactorWeights* weights_ = nullptr;
  Index length_ = 0;
  SuffixAutomaton automaton_;
  Steps steps_;
  std::vector<Class> classes_;
  std::vector<Mark> excluded_;   // sorted
  std::vector<char> is_marked_;  // whether a state has excluded factors; empty if none has
  std::vector<State> met_;
  std::uint32_t now_ = 0;

  void mark_excluded();
  double weigh(State s, Index upto) const;
};

// Values of row i with the first limit + i columns, for all rows: of a block on the diagonal only one half is
// needed.
void factors_block(Strings X, Strings Y, const FactorWeights& weights, bool counted, Index limit, double* out,
                   Index stride, int threads);
// Values of each string with itself.
void factors_diagonal(Strings X, const FactorWeights& weights, bool counted, double* out, int threads);

}  // namespace mercer
