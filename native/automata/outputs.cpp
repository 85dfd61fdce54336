#include "outputs.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace mercer::automata {
namespace {

// Adds up the weights of entries with one node; in the order of nodes, and of coming within a node.
void merge(std::vector<Entry>& entries) {
  if (entries.size() < 2) return;
  std::stable_sort(entries.begin(), entries.end(), [](Entry a, Entry b) { return a.node < b.node; });
  std::size_t last = 0;
  for (std::size_t i = 1; i < entries.size(); ++i) {
    if (entries[i].node == entries[last].node)
      entries[last].weight += entries[i].weight;
    else
      entries[++last] = entries[i];
  }
  entries.resize(last + 1);
}

// The states from which a marked one is reached over the arcs that `follows` accepts.
template <class Follows>
void spread(const View& m, std::vector<char>& marked, Follows&& follows) {
  for (bool changed = true; changed;) {
    changed = false;
    for (State q = m.n_states - 1; q >= 0; --q) {
      for (Index e = m.starts[q]; !marked[q] && e < m.starts[q + 1]; ++e)
        if (follows(e) && marked[m.target[e]]) marked[q] = 1, changed = true;
    }
  }
}

}  // namespace

void Front::clear() {
  for (std::vector<Entry>& some : paths) some.clear();
  std::fill(taken.begin(), taken.end(), 0);
}

Outputs::Outputs(View machine, Classes classes)
    : machine_(machine),
      classes_(std::move(classes)),
      writes_(machine.n_states, 0),
      place_(machine.n_states, 0),
      tail_number_(machine.n_states, -1) {
  for (State q = 0; q < machine_.n_states; ++q) {
    const Label* first = machine_.input + machine_.starts[q];
    const Label* last = machine_.input + machine_.starts[q + 1];
    empty_.push_back(std::lower_bound(first, last, 0) - machine_.input);
    named_.push_back(std::lower_bound(first, last, 1) - machine_.input);
  }
  mark_states();
  order_states();
}

void Outputs::mark_states() {
  const View& m = machine_;
  std::vector<char> ends(m.n_states);
  for (State q = 0; q < m.n_states; ++q) {
    ends[q] = m.final[q] != 0.0;
    for (Index e = m.starts[q]; e < m.starts[q + 1]; ++e)
      if (m.output[e] != 0) writes_[q] = 1;
  }
  spread(m, ends, [&](Index e) { return m.output[e] == 0; });
  spread(m, writes_, [](Index) { return true; });
  for (State q = 0; q < m.n_states; ++q)
    if (ends[q]) tail_number_[q] = static_cast<std::int32_t>(n_tails_++);
}

// Depth first along the arcs that read nothing; a state comes before all that it leads to.
void Outputs::order_states() {
  std::vector<char> seen(machine_.n_states, 0);
  std::vector<std::pair<State, Index>> stack;
  for (State root = 0; root < machine_.n_states; ++root) {
    if (seen[root]) continue;
    seen[root] = 1;
    stack.emplace_back(root, empty_[root]);
    while (!stack.empty()) {
      auto& [q, e] = stack.back();
      if (e == named_[q]) {
        if (writes_[q]) order_.push_back(q);
        stack.pop_back();
        continue;
      }
      State target = machine_.target[e++];
      if (!seen[target]) {
        seen[target] = 1;
        stack.emplace_back(target, empty_[target]);
      }
    }
  }
  std::reverse(order_.begin(), order_.end());
  for (std::size_t place = 0; place < order_.size(); ++place) place_[order_[place]] = place;
  here_.resize(order_.size());
  next_.resize(order_.size());
}

template <class Use>
void Outputs::each_arc(State q, Label symbol, Use&& use) const {
  for (Index e = machine_.starts[q]; e < empty_[q]; ++e)
    if (classes_.contains(machine_.input[e], symbol)) use(e);
  const Label* last = machine_.input + machine_.starts[q + 1];
  const Label* first = std::lower_bound(machine_.input + named_[q], last, symbol);
  for (; first != last && *first == symbol; ++first) use(first - machine_.input);
}

void Outputs::sum_tails(const Label* codes, Index length) {
  const View& m = machine_;
  tails_.assign((order_.empty() ? 2 : length + 1) * n_tails_, 0.0);
  for (State q = 0; q < m.n_states; ++q)
    if (tail_number_[q] >= 0) tails_[tail_row(length) + tail_number_[q]] = m.final[q];
  for (Index i = length - 1; i >= 0; --i) {
    for (State q = 0; q < m.n_states; ++q) {
      if (tail_number_[q] < 0) continue;
      double sum = 0.0;
      each_arc(q, codes[i], [&](Index e) {
        if (m.output[e] == 0) sum += m.weight[e] * tail(i + 1, m.target[e]);
      });
      tails_[tail_row(i) + tail_number_[q]] = sum;
    }
  }
}

std::int32_t Outputs::child(std::int32_t node, Label symbol) {
  auto key = static_cast<std::uint64_t>(node) << 32 | static_cast<std::uint32_t>(symbol);
  auto [place, is_new] = children_.try_emplace(key, static_cast<std::int32_t>(parents.size()) + 1);
  if (is_new) {
    if (parents.size() >= kMostNodes) throw TooManyOutputs();
    parents.push_back(node);
    symbols.push_back(symbol);
  }
  return place->second;
}

void Outputs::read(const Label* codes, Index length, Index limit, std::vector<Entry>& found, Watch& watch) {
  const View& m = machine_;
  sum_tails(codes, length);
  found.clear();
  here_.clear(), next_.clear();  // another string may have been given up
  const Index last_step = limit > std::numeric_limits<Index>::max() - steps ? limit : steps + limit;
  double silent = 0.0;
  for (State q = 0; q < m.n_states; ++q) {
    if (m.initial[q] == 0.0) continue;
    silent += m.initial[q] * tail(0, q);
    if (writes_[q]) here_.add(place_[q], {0, m.initial[q]});
  }
  if (silent != 0.0) found.push_back({0, silent});
  std::size_t merge_at = 1 << 16;
  Index look_at = steps;

  for (Index i = 0; i <= length; ++i) {
    for (std::size_t word = 0; word < here_.taken.size();) {
      std::uint64_t& taken = here_.taken[word];
      if (taken == 0) {
        ++word;
        continue;
      }
      const std::size_t place = 64 * word + std::countr_zero(taken);
      taken &= taken - 1;  // arcs that read nothing lead to later places, which are still to come
      const State q = order_[place];
      std::vector<Entry>& paths = here_.paths[place];
      merge(paths);
      // Takes all paths in q along arc e, to position j.
      auto follow = [&](Index e, Index j, Label symbol, Front& reached) {
        State target = m.target[e];
        bool silently = m.output[e] == 0;
        double end = silently ? 0.0 : tail(j, target);
        Label written = m.output[e] < 0 ? symbol : m.output[e];
        steps += static_cast<Index>(paths.size());
        if (steps > last_step) throw TooManyOutputs();
        for (Entry path : paths) {
          double weight = path.weight * m.weight[e];
          std::int32_t node = silently ? path.node : child(path.node, written);
          if (end != 0.0) found.push_back({node, weight * end});
          if (writes_[target]) reached.add(place_[target], {node, weight});
        }
      };
      for (Index e = empty_[q]; e < named_[q]; ++e) follow(e, i, 0, here_);
      if (i < length) each_arc(q, codes[i], [&](Index e) { follow(e, i + 1, codes[i], next_); });
      paths.clear();
      if (found.size() > merge_at) {
        merge(found);
        if (found.size() > kMostOutputs) throw TooManyOutputs();
        merge_at = std::max(merge_at, 2 * found.size());
      }
      if (steps >= look_at) watch.check(), look_at = steps + 4096;
    }
    std::swap(here_, next_);
  }
  merge(found);
}

void inner_products(Listed x, const Index* rows, Index n_rows, Listed y, const Index* cols, Index n_cols,
                    const std::int32_t* table, Index width, double* out, int threads, Watch& watch) {
  // One string of x at a time is spread over all nodes; node -1, which is none, has its place before them.
  parallel_for<std::vector<double>>(n_rows, threads, watch, [&](Index i, std::vector<double>& spread) {
    spread.resize(width + 1, 0.0);
    double* at = spread.data() + 1;
    const Index first = x.starts[rows[i]], last = x.starts[rows[i] + 1];
    for (Index e = first; e < last; ++e) at[x.nodes[e]] = x.weights[e];
    for (Index j = 0; j < n_cols; ++j) {
      double sum = 0.0;
      for (Index e = y.starts[cols[j]]; e < y.starts[cols[j] + 1]; ++e)
        sum += y.weights[e] * at[table[y.nodes[e]]];
      out[i * n_cols + j] = sum;
    }
    for (Index e = first; e < last; ++e) at[x.nodes[e]] = 0.0;
  });
}

}  // namespace mercer::automata
