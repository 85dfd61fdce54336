#include "path_sums.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace mercer::automata {
namespace {

// The arcs within a component as a matrix: weigh(w) for an arc of weight w, parallel arcs added.
template <class S, class Weigh>
std::vector<double> matrix(const Graph& graph, const Components& components, State c, Weigh&& weigh) {
  Index first = components.starts[c], n = components.starts[c + 1] - first;
  const State* states = components.states.data() + first;
  std::vector<std::pair<State, Index>> place(n);
  for (Index i = 0; i < n; ++i) place[i] = {states[i], i};
  std::sort(place.begin(), place.end());
  std::vector<double> a(n * n, S::zero);
  for (Index i = 0; i < n; ++i)
    for (Index e = graph.starts[states[i]]; e < graph.starts[states[i] + 1]; ++e) {
      State to = graph.target[e];
      if (components.component[to] != c) continue;
      Index j = std::lower_bound(place.begin(), place.end(), std::pair<State, Index>{to, 0})->second;
      a[i * n + j] = S::plus(a[i * n + j], weigh(graph.weight[e]));
    }
  return a;
}

}  // namespace

template <class S>
Elimination<S>::Elimination(const Graph& graph, const Components& components, State c, Watch& watch)
    : n_(components.starts[c + 1] - components.starts[c]), star_(n_) {
  if (n_ > kLargestComponent) throw TooLarge(n_);
  double scale = 0.0;
  bool signs = false, converges = true;
  auto same = [&](double w) {
    scale = std::max(scale, std::abs(w));
    signs |= w < 0.0;
    return w;
  };
  a_ = matrix<S>(graph, components, c, same);
  if (std::is_same_v<S, Real> && signs) {
    std::vector<double> signed_weights = std::move(a_);
    a_ = matrix<S>(graph, components, c, [](double w) { return std::abs(w); });
    converges = eliminate(scale, watch);
    a_ = std::move(signed_weights);
  }
  if (!converges || !eliminate(scale, watch)) {
    const State* states = components.states.data() + components.starts[c];
    throw Divergence({states, states + n_});
  }
}

// Leaves in a_[k][j] and a_[j][k], j > k, what they were when k was left out.
template <class S>
bool Elimination<S>::eliminate(double scale, Watch& watch) {
  double slack = 8.0 * static_cast<double>(n_) * std::numeric_limits<double>::epsilon();
  for (Index k = 0; k < n_; ++k) {
    const double* through = &a_[k * n_];
    if (!S::converges(through[k], scale, slack)) return false;
    star_[k] = S::star(through[k]);
    for (Index i = k + 1; i < n_; ++i) {
      double* row = &a_[i * n_];
      if (row[k] == S::zero) continue;
      watch.check();
      double w = S::times(row[k], star_[k]);
      for (Index j = k + 1; j < n_; ++j) row[j] = S::plus(row[j], S::times(w, through[j]));
    }
  }
  return true;
}

template <class S>
void Elimination<S>::solve_row(double* x) const {
  for (Index k = 0; k < n_; ++k) {
    double w = S::times(x[k], star_[k]);
    for (Index j = k + 1; j < n_; ++j) x[j] = S::plus(x[j], S::times(w, a_[k * n_ + j]));
  }
  for (Index k = n_ - 1; k >= 0; --k) {
    for (Index i = k + 1; i < n_; ++i) x[k] = S::plus(x[k], S::times(x[i], a_[i * n_ + k]));
    x[k] = S::times(x[k], star_[k]);
  }
}

template <class S>
void Elimination<S>::solve_column(double* x) const {
  for (Index k = 0; k < n_; ++k) {
    double w = S::times(star_[k], x[k]);
    for (Index i = k + 1; i < n_; ++i) x[i] = S::plus(x[i], S::times(a_[i * n_ + k], w));
  }
  for (Index k = n_ - 1; k >= 0; --k) {
    for (Index j = k + 1; j < n_; ++j) x[k] = S::plus(x[k], S::times(a_[k * n_ + j], x[j]));
    x[k] = S::times(star_[k], x[k]);
  }
}

template <class S>
PathSums<S>::PathSums(Graph graph, Watch& watch)
    : graph_(std::move(graph)),
      components_(strong_components(graph_)),
      eliminations_(components_.acyclic() ? 0 : components_.size()) {
  for (State c = 0; c < static_cast<State>(eliminations_.size()); ++c)
    if (components_.cyclic[c])
      eliminations_[c] = std::make_unique<Elimination<S>>(graph_, components_, c, watch);
}

template <class S>
template <class Solve>
void PathSums<S>::within(State c, std::vector<double>& x, Solve&& solve) const {
  if (!components_.cyclic[c]) return;
  Index first = components_.starts[c], last = components_.starts[c + 1];
  std::vector<double> part;
  for (Index i = first; i < last; ++i) part.push_back(x[components_.states[i]]);
  solve(*eliminations_[c], part.data());
  for (Index i = first; i < last; ++i) x[components_.states[i]] = part[i - first];
}

template <class S>
void PathSums<S>::solve_row(std::vector<double>& x) const {
  for (State c = 0; c < components_.size(); ++c) {
    within(c, x, [](const auto& equations, double* part) { equations.solve_row(part); });
    for (Index i = components_.starts[c]; i < components_.starts[c + 1]; ++i) {
      State q = components_.states[i];
      for (Index e = graph_.starts[q]; e < graph_.starts[q + 1]; ++e)
        if (leaves(q, e))
          x[graph_.target[e]] = S::plus(x[graph_.target[e]], S::times(x[q], graph_.weight[e]));
    }
  }
}

template <class S>
void PathSums<S>::solve_column(std::vector<double>& x) const {
  for (State c = components_.size() - 1; c >= 0; --c) {
    for (Index i = components_.starts[c]; i < components_.starts[c + 1]; ++i) {
      State q = components_.states[i];
      for (Index e = graph_.starts[q]; e < graph_.starts[q + 1]; ++e)
        if (leaves(q, e)) x[q] = S::plus(x[q], S::times(graph_.weight[e], x[graph_.target[e]]));
    }
    within(c, x, [](const auto& equations, double* part) { equations.solve_column(part); });
  }
}

template <class S>
void PathSums<S>::solve_from(State from, const std::vector<char>& marked, std::vector<double>& x,
                             std::vector<State>& states, std::vector<char>& seen) const {
  states.assign(1, from);
  seen[from] = 1;
  for (std::size_t next = 0; next < states.size(); ++next) {
    State q = states[next];
    for (Index e = graph_.starts[q]; e < graph_.starts[q + 1]; ++e) {
      State to = graph_.target[e];
      if (seen[to] || !marked[to]) continue;
      seen[to] = 1;
      states.push_back(to);
    }
  }
  const auto& component = components_.component;
  std::sort(states.begin(), states.end(),
            [&](State p, State q) { return std::pair(component[p], p) < std::pair(component[q], q); });
  x[from] = S::one;
  for (std::size_t i = 0; i < states.size(); ++i) {
    State q = states[i];
    seen[q] = 0;
    if (i == 0 || component[states[i - 1]] != component[q])
      within(component[q], x, [](const auto& equations, double* part) { equations.solve_row(part); });
    for (Index e = graph_.starts[q]; e < graph_.starts[q + 1]; ++e)
      if (marked[graph_.target[e]] && leaves(q, e))
        x[graph_.target[e]] = S::plus(x[graph_.target[e]], S::times(x[q], graph_.weight[e]));
  }
}

template class PathSums<Real>;
template class PathSums<Log>;
template class PathSums<Tropical>;
template class PathSums<Boolean>;

}  // namespace mercer::automata
