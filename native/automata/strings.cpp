// d(i, j, q), the sum over all paths to state q that have read i symbols of x and written j of y, comes from
//   d(i-1, j-1) by arcs that read x_i and write y_j,  d(i-1, j) by arcs that read x_i and write nothing,
//   d(i, j-1) by arcs that read nothing and write y_j.
// Which arcs these are depends on the two symbols only and is found once per pair of distinct ones.
#include "strings.hpp"

#include <algorithm>
#include <numeric>
#include <span>

namespace mercer::automata {
namespace {

struct Step {
  State source, target;
  double weight;
};

// Arcs of the whole machine by the kinds of their labels.
struct ArcIndex {
  struct Arc {
    Label input, output;
    Step step;
  };
  std::vector<Arc> pairs;    // a symbol is read, something is written: by input and output
  std::vector<Arc> classes;  // a class is read, something is written
  std::vector<Arc> reads;    // nothing is written
  std::vector<Arc> writes;   // nothing is read

  template <class S>
  static ArcIndex of(const View& a, S) {
    ArcIndex index;
    for (State q = 0; q < a.n_states; ++q)
      for (Index e = a.starts[q]; e < a.starts[q + 1]; ++e) {
        if (a.weight[e] == S::zero) continue;
        Arc arc{a.input[e], a.output[e], {q, a.target[e], a.weight[e]}};
        auto& kind = arc.output == 0  ? index.reads
                     : arc.input == 0 ? index.writes
                     : arc.input < 0  ? index.classes
                                      : index.pairs;
        kind.push_back(arc);
      }
    std::stable_sort(index.pairs.begin(), index.pairs.end(), [](const Arc& s, const Arc& t) {
      return std::pair(s.input, s.output) < std::pair(t.input, t.output);
    });
    return index;
  }
};

// The distinct symbols of a string, and the string in their numbers.
struct Letters {
  std::vector<Label> symbols;
  std::vector<Index> positions;

  void read(const Label* first, const Label* last) {
    symbols.assign(first, last);
    std::sort(symbols.begin(), symbols.end());
    symbols.erase(std::unique(symbols.begin(), symbols.end()), symbols.end());
    positions.clear();
    for (const Label* p = first; p < last; ++p)
      positions.push_back(std::lower_bound(symbols.begin(), symbols.end(), *p) - symbols.begin());
  }
};

// Lists of steps, one after the other.
struct StepLists {
  std::vector<Step> steps;
  std::vector<Index> starts;

  void clear() {
    steps.clear();
    starts.assign(1, 0);
  }
  void close() { starts.push_back(static_cast<Index>(steps.size())); }
  std::span<const Step> operator[](Index i) const {
    return {steps.data() + starts[i], steps.data() + starts[i + 1]};
  }
};

// The dynamic program for one pair after the other, with memory that is kept.
template <class S>
class Table {
 public:
  double weight(const View& a, const ArcIndex& index, const Classes& classes, const Label* x, Index n,
                const Label* y, Index m, Watch& watch) {
    x_.read(x, x + n);
    y_.read(y, y + m);
    find_steps(index, classes);
    std::size_t width = a.n_states;
    current_.assign(a.initial, a.initial + width);
    current_.resize((m + 1) * width, S::zero);
    fill_row(0, m, width, watch);
    for (Index i = 1; i <= n; ++i) {
      std::swap(current_, previous_);
      current_.assign((m + 1) * width, S::zero);
      fill_row(i, m, width, watch);
    }
    double total = S::zero;
    for (State q = 0; q < a.n_states; ++q)  // infinity times zero is no number
      if (a.final[q] != S::zero) total = S::plus(total, S::times(current_[m * width + q], a.final[q]));
    return total;
  }

 private:
  static bool fits(const Classes& classes, Label label, Label symbol) {
    return label < 0 ? classes.contains(label, symbol) : label == symbol;
  }

  void find_steps(const ArcIndex& index, const Classes& classes) {
    reads_.clear();
    writes_.clear();
    pairs_.clear();
    for (Label a : x_.symbols) {
      for (const auto& arc : index.reads)
        if (fits(classes, arc.input, a)) reads_.steps.push_back(arc.step);
      reads_.close();
    }
    for (Label b : y_.symbols) {
      for (const auto& arc : index.writes)
        if (fits(classes, arc.output, b)) writes_.steps.push_back(arc.step);
      writes_.close();
    }
    for (Label a : x_.symbols) {
      auto by_input = [](const ArcIndex::Arc& arc, Label label) { return arc.input < label; };
      auto first = std::lower_bound(index.pairs.begin(), index.pairs.end(), a, by_input);
      auto last = std::lower_bound(first, index.pairs.end(), a + 1, by_input);
      for (Label b : y_.symbols) {
        find_pairs(first, last, index, classes, a, b);
        pairs_.close();
      }
    }
  }

  using Arcs = std::vector<ArcIndex::Arc>::const_iterator;

  // Steps that read a and write b; those with a itself as input are from first to last, by output.
  void find_pairs(Arcs first, Arcs last, const ArcIndex& index, const Classes& classes, Label a, Label b) {
    Arcs arc = first;
    for (; arc < last && arc->output < 0; ++arc)
      if (classes.contains(arc->output, b)) pairs_.steps.push_back(arc->step);
    auto by_output = [](const ArcIndex::Arc& s, Label label) { return s.output < label; };
    for (arc = std::lower_bound(arc, last, b, by_output); arc < last && arc->output == b; ++arc)
      pairs_.steps.push_back(arc->step);
    for (const auto& s : index.classes)
      if (classes.contains(s.input, a) && (s.output < 0 ? a == b : s.output == b))
        pairs_.steps.push_back(s.step);
  }

  void fill_row(Index i, Index m, std::size_t width, Watch& watch) {
    watch.check();
    Index letters = static_cast<Index>(y_.symbols.size());
    for (Index j = 0; j <= m; ++j) {
      double* cell = current_.data() + j * width;
      if (j > 0) take(writes_[y_.positions[j - 1]], cell - width, cell);
      if (i == 0) continue;
      const double* above = previous_.data() + j * width;
      Index a = x_.positions[i - 1];
      take(reads_[a], above, cell);
      if (j > 0) take(pairs_[a * letters + y_.positions[j - 1]], above - width, cell);
    }
  }

  static void take(std::span<const Step> steps, const double* from, double* to) {
    for (const Step& s : steps) to[s.target] = S::plus(to[s.target], S::times(from[s.source], s.weight));
  }

  Letters x_, y_;
  StepLists reads_, writes_, pairs_;
  std::vector<double> current_, previous_;
};

}  // namespace

template <class S>
void string_weights(const View& a, const Classes& classes, Strings x, Strings y, const Index* rows,
                    const Index* cols, Index count, double* out, int threads, Watch& watch) {
  ArcIndex index = ArcIndex::of(a, S{});
  parallel_for<Table<S>>(count, threads, watch, [&](Index p, Table<S>& table) {
    Index i = rows[p], j = cols[p];
    out[p] = table.weight(a, index, classes, x.codes + x.starts[i], x.starts[i + 1] - x.starts[i],
                          y.codes + y.starts[j], y.starts[j + 1] - y.starts[j], watch);
  });
}

template void string_weights<Real>(const View&, const Classes&, Strings, Strings, const Index*, const Index*,
                                   Index, double*, int, Watch&);
template void string_weights<Log>(const View&, const Classes&, Strings, Strings, const Index*, const Index*,
                                  Index, double*, int, Watch&);
template void string_weights<Tropical>(const View&, const Classes&, Strings, Strings, const Index*,
                                       const Index*, Index, double*, int, Watch&);
template void string_weights<Boolean>(const View&, const Classes&, Strings, Strings, const Index*,
                                      const Index*, Index, double*, int, Watch&);

}  // namespace mercer::automata
