#include "intersect.hpp"

#include "compose.hpp"
#include "merge.hpp"
#include "sums.hpp"

namespace mercer::automata {
namespace {

// The machine that copies one string.
template <class S>
Machine copy_of(const Label* first, const Label* last) {
  Machine machine;
  State n = static_cast<State>(last - first);
  for (State q = 0; q < n; ++q) {
    machine.add_arc(q + 1, first[q], first[q], S::one);
    machine.close_state();
  }
  machine.close_state();
  machine.initial.assign(n + 1, S::zero);
  machine.final.assign(n + 1, S::zero);
  machine.initial[0] = machine.final[n] = S::one;
  return machine;
}

// Sum over pairs of paths with equal labels, where states of `a` are in topological order.  Row p holds the
// weights of the pairs (p, q) that have been reached; arcs lead from one row to later ones only.
template <class S>
class ProductRows {
 public:
  double weight(const View& a, const View& b, Watch& watch) {
    rows_.assign(a.n_states, Row{});
    for (State p = 0; p < a.n_states; ++p) {
      if (a.initial[p] == S::zero) continue;
      for (State q = 0; q < b.n_states; ++q)
        if (b.initial[q] != S::zero) add(p, q, S::times(a.initial[p], b.initial[q]), b.n_states);
    }
    double total = S::zero;
    for (State p = 0; p < a.n_states; ++p) {
      Row row = std::move(rows_[p]);
      if (row.active.empty()) continue;
      watch.check();
      for (State q : row.active) {
        double here = row.weight[q];
        if (a.final[p] != S::zero && b.final[q] != S::zero)
          total = S::plus(total, S::times(here, S::times(a.final[p], b.final[q])));
        follow(a, p, b, q, here);
        row.weight[q] = S::zero;
        row.is_active[q] = 0;
      }
      row.active.clear();
      spare_.push_back(std::move(row));
    }
    return total;
  }

 private:
  struct Row {
    std::vector<double> weight;
    std::vector<char> is_active;
    std::vector<State> active;
  };

  void add(State p, State q, double w, State width) {
    Row& row = rows_[p];
    if (row.weight.empty()) {
      if (!spare_.empty()) {
        row = std::move(spare_.back());
        spare_.pop_back();
      }
      row.weight.resize(width, S::zero);
      row.is_active.resize(width);
    }
    if (!row.is_active[q]) {
      row.is_active[q] = 1;
      row.active.push_back(q);
    }
    row.weight[q] = S::plus(row.weight[q], w);
  }

  // Both lists of arcs are sorted by label.
  void follow(const View& a, State p, const View& b, State q, double here) {
    Index e = a.starts[p], e_end = a.starts[p + 1], f = b.starts[q], f_end = b.starts[q + 1];
    while (e < e_end && f < f_end) {
      if (a.input[e] < b.input[f]) {
        ++e;
      } else if (b.input[f] < a.input[e]) {
        ++f;
      } else {
        for (Index g = f; g < f_end && b.input[g] == a.input[e]; ++g)
          add(a.target[e], b.target[g], S::times(here, S::times(a.weight[e], b.weight[g])), b.n_states);
        ++e;
      }
    }
  }

  std::vector<Row> rows_, spare_;
};

// Makes `count` automata, each of them merged.
template <class S, class Make>
std::vector<Machine> each(Index count, std::vector<std::uint8_t>& acyclic, int threads, Watch& watch,
                          Make&& make) {
  struct Nothing {};
  std::vector<Machine> result(count);
  acyclic.assign(count, 0);
  parallel_for<Nothing>(count, threads, watch, [&](Index i, Nothing&) {
    bool is_acyclic;
    result[i] = merged<S>(make(i), is_acyclic);
    acyclic[i] = is_acyclic;
  });
  return result;
}

}  // namespace

template <class S>
std::vector<Machine> output_automata(const View& transducer, const Classes& classes, Strings x, Index count,
                                     std::vector<std::uint8_t>& acyclic, int threads, Watch& watch) {
  return each<S>(count, acyclic, threads, watch, [&](Index i) {
    Classes mine = classes;
    Machine copy = copy_of<S>(x.codes + x.starts[i], x.codes + x.starts[i + 1]);
    Machine written = compose<S>({copy.view(), transducer}, mine, watch);
    written.input = written.output;
    return without_epsilons<S>(written.view(), watch);
  });
}

template <class S>
std::vector<Machine> prepared_automata(const std::vector<View>& automata, std::vector<std::uint8_t>& acyclic,
                                       int threads, Watch& watch) {
  return each<S>(static_cast<Index>(automata.size()), acyclic, threads, watch,
                 [&](Index i) { return without_epsilons<S>(automata[i], watch); });
}

template <class S>
void intersect_weights(const Packed& a, const Packed& b, const Index* rows, const Index* cols, Index count,
                       double* out, int threads, Watch& watch) {
  parallel_for<ProductRows<S>>(count, threads, watch, [&](Index pair, ProductRows<S>& product) {
    Index i = rows[pair], j = cols[pair];
    if (a.acyclic[i]) {
      out[pair] = product.weight(a[i], b[j], watch);
    } else if (b.acyclic[j]) {
      out[pair] = product.weight(b[j], a[i], watch);
    } else {
      Classes none;
      out[pair] = total_weight<S>(compose<S>({a[i], b[j]}, none, watch).view(), watch);
    }
  });
}

#define INSTANTIATE(S)                                                                                     \
  template std::vector<Machine> output_automata<S>(const View&, const Classes&, Strings, Index,            \
                                                   std::vector<std::uint8_t>&, int, Watch&);               \
  template std::vector<Machine> prepared_automata<S>(const std::vector<View>&, std::vector<std::uint8_t>&, \
                                                     int, Watch&);                                         \
  template void intersect_weights<S>(const Packed&, const Packed&, const Index*, const Index*, Index,      \
                                     double*, int, Watch&);
INSTANTIATE(Real)
INSTANTIATE(Log)
INSTANTIATE(Tropical)
INSTANTIATE(Boolean)
#undef INSTANTIATE

}  // namespace mercer::automata
