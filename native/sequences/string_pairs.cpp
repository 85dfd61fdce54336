#include "string_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "../dispatch.hpp"

namespace mercer {
namespace {

// Cells of all lanes between two looks at the clock: about a millisecond.
constexpr Index kCells = Index{1} << 17;

struct Scratch {
  std::vector<double> x, y, state;
};

// Some pairs, by their places in a list.
struct Group {
  const PairList& pairs;
  const Index* chosen;
  Index size;

  Index rows() const { return longest(pairs.X, pairs.rows); }
  Index cols() const { return longest(pairs.Y, pairs.cols); }

 private:
  Index longest(const Coded& sequences, const Index* which) const {
    Index length = 0;
    for (Index l = 0; l < size; ++l) length = std::max(length, sequences.length(which[chosen[l]]));
    return length;
  }
};

// Sequences side by side, each in a lane, filled up with `padding`.
void interleave(const Coded& sequences, const Index* which, const Group& group, Index length, double padding,
                Index lanes, std::vector<double>& target) {
  target.assign(static_cast<std::size_t>(length * lanes), padding);
  for (Index l = 0; l < group.size; ++l) {
    Index number = which[group.chosen[l]];
    const std::int32_t* codes = sequences.codes + sequences.starts[number];
    for (Index i = 0; i < sequences.length(number); ++i)
      target[static_cast<std::size_t>(i * lanes + l)] = codes[i];
  }
}

struct Padding {
  double x, y;
};

// Runs rows(lanes, first, last, state) over all rows of each group of the chosen pairs, then
// finish(group, state).
template <class StateSize, class Rows, class Finish>
void for_groups(const PairList& pairs, const std::vector<Index>& chosen, Padding padding, Index cost,
                StateSize state_size, Rows rows, Finish finish, int threads, const Look& look) {
  const Index lanes = table().strings.lanes, count = static_cast<Index>(chosen.size());
  auto body = [&](Index g, Watch& watch, Scratch& scratch) {
    Group group{pairs, chosen.data() + g * lanes, std::min(lanes, count - g * lanes)};
    const Index height = group.rows(), width = group.cols();
    interleave(pairs.X, pairs.rows, group, height, padding.x, lanes, scratch.x);
    interleave(pairs.Y, pairs.cols, group, width, padding.y, lanes, scratch.y);
    scratch.state.assign(static_cast<std::size_t>(state_size(width)), 0.0);
    StringLanes in_lanes{scratch.x.data(), scratch.y.data(), width};
    const Index step = std::max<Index>(1, kCells / (cost * std::max<Index>(1, width)));
    for (Index i = 0; i < height; i += step) {
      watch.pause();
      rows(group, in_lanes, i, std::min(height, i + step), scratch.state.data());
    }
    finish(group, scratch.state.data());
  };
  watched_loop<Scratch>((count + lanes - 1) / lanes, threads, look, body);
}

std::vector<Index> all(Index count) {
  std::vector<Index> places(static_cast<std::size_t>(count));
  for (Index p = 0; p < count; ++p) places[static_cast<std::size_t>(p)] = p;
  return places;
}

// Runs a recursion on plain numbers, then on wide ones for the pairs whose sums are not finite.  The state
// begins with `sums` numbers, the results, and has `kept` more per column; a cell of wide numbers has
// `wide_kept` doubles per lane.
template <class Rule>
void run(const PairList& pairs, const Rule& rule, const StringRecursion<Rule>& recursion, Padding padding,
         Index sums, Index kept, Index wide_kept, double* results, double* exponents, int threads,
         const Look& look) {
  const Index lanes = table().strings.lanes;
  for (bool wide : {false, true}) {
    std::vector<Index> chosen = all(pairs.count);
    if (wide)
      std::erase_if(chosen, [&](Index p) {
        return std::all_of(results + p * sums, results + (p + 1) * sums,
                           [](double sum) { return std::isfinite(sum); });
      });
    const Index size = wide ? 2 * lanes : lanes;
    auto state_size = [&](Index cols) { return sums * size + (wide ? wide_kept : kept) * cols * lanes; };
    auto rows = [&](const Group&, StringLanes group, Index first, Index last, double* state) {
      (wide ? recursion.wide : recursion.plain)(group, first, last, rule, state);
    };
    auto finish = [&](const Group& group, const double* state) {
      for (Index l = 0; l < group.size; ++l)
        for (Index k = 0; k < sums; ++k) {
          const Index at = group.chosen[l] * sums + k;
          results[at] = state[k * size + l];
          exponents[at] = wide ? state[k * size + lanes + l] : 0.0;
        }
    };
    for_groups(pairs, chosen, padding, sums + wide, state_size, rows, finish, threads, look);
  }
}

}  // namespace

void subsequences(const PairList& pairs, const SubsequenceRule& rule, double* sums, double* exponents,
                  int threads, const Look& look) {
  run(pairs, rule, table().strings.subsequences, {-1.0, -2.0}, rule.n, rule.n - 1, 2 * (rule.n - 1), sums,
      exponents, threads, look);
}

void local_alignments(const PairList& pairs, const LocalAlignmentRule& rule, double* sums, double* exponents,
                      int threads, const Look& look) {
  const double last = static_cast<double>(rule.symbols - 1);
  const Padding padding = rule.weights == nullptr ? Padding{-1.0, -2.0} : Padding{last, last};
  run(pairs, rule, table().strings.local_alignments, padding, 1, 2, 3, sums, exponents, threads, look);
}

void edits(const PairList& pairs, const EditRule& rule, double* costs, int threads, const Look& look) {
  const StringTable& lanes = table().strings;
  // The cost of a pair stands in row |x| and column |y|.
  auto collect = [&](const Group& group, Index row, const double* state) {
    for (Index l = 0; l < group.size; ++l) {
      const Index p = group.chosen[l], length = pairs.Y.length(pairs.cols[p]);
      if (pairs.X.length(pairs.rows[p]) == row)
        costs[p] = length == 0 ? rule.gap * static_cast<double>(row) : state[(length - 1) * lanes.lanes + l];
    }
  };
  auto rows = [&](const Group& group, StringLanes in_lanes, Index first, Index last, double* state) {
    for (Index i = first; i < last; ++i) {
      lanes.edits(in_lanes, i, i + 1, rule, state);
      collect(group, i + 1, state);
    }
  };
  auto nothing = [&](const Group& group, const double*) {
    for (Index l = 0; l < group.size; ++l) {  // an empty x has no row
      const Index p = group.chosen[l];
      if (pairs.X.length(pairs.rows[p]) == 0)
        costs[p] = rule.gap * static_cast<double>(pairs.Y.length(pairs.cols[p]));
    }
  };
  auto state_size = [&](Index cols) { return cols * lanes.lanes; };
  for_groups(pairs, all(pairs.count), {-1.0, -2.0}, 1, state_size, rows, nothing, threads, look);
}

}  // namespace mercer
