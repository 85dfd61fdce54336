#include "graphlets.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace mercer {
namespace {

using Node = std::int32_t;

// The simple undirected graph below a graph of the batch: sorted neighbours of each node.  With `by_degree`
// nodes are numbered by their degrees, the smallest first.
class Adjacency {
 public:
  void read(const GraphBatch& graphs, Index graph, bool by_degree = false) {
    Index first = graphs.node_starts[graph], n = graphs.size(graph);
    edges_.clear();
    for (Node u = 0; u < n; ++u)
      for (Index a = graphs.arc_starts[first + u]; a < graphs.arc_starts[first + u + 1]; ++a)
        if (Node v = graphs.targets[a]; v != u) edges_.insert(edges_.end(), {{u, v}, {v, u}});
    std::sort(edges_.begin(), edges_.end());
    edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
    compress(static_cast<std::size_t>(n));
    if (by_degree) renumber();
  }

  Node size() const { return static_cast<Node>(starts_.size()) - 1; }
  Index degree(Node u) const { return starts_[u + 1] - starts_[u]; }
  std::span<const Node> neighbours(Node u) const {
    return {targets_.data() + starts_[u], targets_.data() + starts_[u + 1]};
  }
  bool adjacent(Node u, Node v) const {
    auto all = neighbours(u);
    return std::binary_search(all.begin(), all.end(), v);
  }
  std::span<const Node> above(Node u) const {
    auto all = neighbours(u);
    return {std::upper_bound(all.begin(), all.end(), u), all.end()};
  }
  std::span<const Node> below(Node u) const {
    auto all = neighbours(u);
    return {all.begin(), std::lower_bound(all.begin(), all.end(), u)};
  }

 private:
  void compress(std::size_t n) {
    starts_.assign(n + 1, 0);
    targets_.clear();
    for (auto [u, v] : edges_) ++starts_[u + 1], targets_.push_back(v);
    for (std::size_t u = 0; u < n; ++u) starts_[u + 1] += starts_[u];
  }

  void renumber() {
    std::vector<Node> order(starts_.size() - 1), rank(order.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](Node u, Node v) { return degree(u) < degree(v); });
    for (std::size_t i = 0; i < order.size(); ++i) rank[order[i]] = static_cast<Node>(i);
    for (auto& [u, v] : edges_) u = rank[u], v = rank[v];
    std::sort(edges_.begin(), edges_.end());
    compress(order.size());
  }

  std::vector<std::pair<Node, Node>> edges_;
  std::vector<Index> starts_;
  std::vector<Node> targets_;
};

Index pairs(Index n) { return n * (n - 1) / 2; }

struct PatternScratch {
  Adjacency graph;
  std::vector<Index> marks, triangles;
  std::vector<Node> common;
};

// Sums over edges and over nodes.  Nodes are numbered by degree, and the common neighbours of two are sought
// among those of the one with the smaller degree.
void count_small(const Adjacency& g, bool four, PatternScratch& s, Index* out, Watch& watch) {
  s.marks.assign(static_cast<std::size_t>(g.size()), 0);
  s.triangles.assign(static_cast<std::size_t>(g.size()), 0);  // twice the number at each node
  Index paths = 0;
  for (Node u = 0; u < g.size(); ++u) {
    watch.pause();
    for (Node v : g.neighbours(u)) s.marks[v] = 1;
    for (Node v : g.below(u)) {
      Index at_edge = 0;
      for (Node w : g.neighbours(v)) at_edge += s.marks[w];
      s.triangles[u] += at_edge, s.triangles[v] += at_edge;
      ++out[kEdge];
      out[kDiamond] += pairs(at_edge);
      paths += (g.degree(u) - 1) * (g.degree(v) - 1);
    }
    for (Node v : g.neighbours(u)) s.marks[v] = 0;
  }
  Index corners = 0;
  for (Node u = 0; u < g.size(); ++u) {
    Index d = g.degree(u), at_node = s.triangles[u] / 2;
    corners += at_node;
    out[kWedge] += pairs(d);
    if (!four) continue;
    out[kStar] += pairs(d) * (d - 2) / 3;
    out[kPaw] += at_node * (d - 2);
  }
  out[kTriangle] = corners / 3;
  out[kPath] = paths - corners;
}

// Each cycle is seen from its largest node u: w and w' are its neighbours, v is opposite.
Index count_cycles(const Adjacency& g, std::vector<Index>& marks, Watch& watch) {
  Index cycles = 0;
  marks.assign(static_cast<std::size_t>(g.size()), 0);
  for (Node u = 0; u < g.size(); ++u) {
    watch.pause();
    auto opposite = [&](auto&& body) {
      for (Node w : g.below(u))
        for (Node v : g.neighbours(w)) {
          if (v >= u) break;
          body(v);
        }
    };
    opposite([&](Node v) { cycles += marks[v]++; });
    opposite([&](Node v) { marks[v] = 0; });
  }
  return cycles;
}

Index count_cliques(const Adjacency& g, std::vector<Index>& marks, std::vector<Node>& common, Watch& watch) {
  Index cliques = 0;
  marks.assign(static_cast<std::size_t>(g.size()), 0);
  for (Node u = 0; u < g.size(); ++u) {
    for (Node v : g.above(u)) marks[v] = 1;
    for (Node v : g.above(u)) {
      watch.pause();
      common.clear();
      for (Node w : g.above(v))
        if (marks[w] != 0) marks[w] = 2, common.push_back(w);
      for (Node w : common)
        for (Node x : g.above(w)) cliques += marks[x] == 2;
      for (Node w : common) marks[w] = 1;
    }
    for (Node v : g.above(u)) marks[v] = 0;
  }
  return cliques;
}

// Connected sets of nodes, each once: a set grows from its smallest node, and a node that has been passed
// over is not taken later (the algorithm ESU of Wernicke).
class Enumeration {
 public:
  Enumeration(const Adjacency& g, Index size, const std::int32_t* types, Index n_types, bool at_nodes,
              Index* counts, Watch& watch)
      : g_(g),
        size_(size),
        types_(types),
        n_types_(n_types),
        at_nodes_(at_nodes),
        counts_(counts),
        watch_(watch),
        members_(static_cast<std::size_t>(g.size()), 0),
        chosen_(static_cast<std::size_t>(size)) {}

  void run() {
    for (root_ = 0; root_ < g_.size(); ++root_) {
      chosen_[0] = root_;
      candidates_.clear();
      add(root_, 0);
      grow(1, 0, 0);
      remove(root_, 0);
    }
  }

 private:
  // The neighbours of a new member become candidates unless they were neighbours of an earlier one.
  void add(Node v, Index place) {
    for (Node w : g_.neighbours(v)) {
      if (w > root_ && members_[w] == 0) candidates_.push_back(w);
      members_[w] |= static_cast<std::uint8_t>(1u << place);
    }
  }

  void remove(Node v, Index place) {
    for (Node w : g_.neighbours(v)) members_[w] &= static_cast<std::uint8_t>(~(1u << place));
  }

  // Take each candidate from number `begin` on as member number `place`.
  void grow(Index place, std::size_t begin, std::uint32_t edges) {
    auto bit = static_cast<unsigned>(pairs(place));
    if (place == size_ - 1) {
      for (std::size_t i = begin; i < candidates_.size(); ++i) {
        chosen_[place] = candidates_[i];
        count(types_[edges | static_cast<std::uint32_t>(members_[candidates_[i]]) << bit]);
      }
      return;
    }
    watch_.pause();
    for (std::size_t i = begin, end = candidates_.size(); i < end; ++i) {
      Node v = chosen_[place] = candidates_[i];
      std::uint32_t with = edges | static_cast<std::uint32_t>(members_[v]) << bit;
      add(v, place);
      grow(place + 1, i + 1, with);
      remove(v, place);
      candidates_.resize(end);
    }
  }

  void count(std::int32_t type) {
    if (!at_nodes_)
      ++counts_[type];
    else
      for (Index i = 0; i < size_; ++i) ++counts_[chosen_[i] * n_types_ + type];
  }

  const Adjacency& g_;
  Index size_;
  const std::int32_t* types_;
  Index n_types_;
  bool at_nodes_;
  Index* counts_;
  Watch& watch_;
  std::vector<std::uint8_t> members_;  // bit i: adjacent to member number i
  std::vector<Node> candidates_;
  std::vector<Node> chosen_;
  Node root_ = 0;
};

}  // namespace

void count_patterns(const GraphBatch& graphs, bool four, Index* counts, int threads, const Look& look) {
  watched_loop<PatternScratch>(graphs.count, threads, look, [&](Index i, Watch& watch, PatternScratch& s) {
    Index* out = counts + i * kPatternCount;
    std::fill_n(out, static_cast<int>(kPatternCount), Index{0});
    s.graph.read(graphs, i, true);
    count_small(s.graph, four, s, out, watch);
    if (!four) return;
    out[kCycle] = count_cycles(s.graph, s.marks, watch);
    out[kClique] = count_cliques(s.graph, s.marks, s.common, watch);
  });
}

void count_connected(const GraphBatch& graphs, Index size, const std::int32_t* types, Index n_types,
                     bool at_nodes, Index* counts, int threads, const Look& look) {
  watched_loop<Adjacency>(graphs.count, threads, look, [&](Index i, Watch& watch, Adjacency& g) {
    Index row = at_nodes ? graphs.node_starts[i] : i, rows = at_nodes ? graphs.size(i) : 1;
    std::fill_n(counts + row * n_types, rows * n_types, Index{0});
    g.read(graphs, i);
    Enumeration(g, size, types, n_types, at_nodes, counts + row * n_types, watch).run();
  });
}

void count_sets(const GraphBatch& graphs, Index graph, Index size, const std::int32_t* sets, Index n_sets,
                const std::int32_t* types, Index* counts) {
  Adjacency g;
  g.read(graphs, graph);
  for (Index k = 0; k < n_sets; ++k, sets += size) {
    std::uint32_t edges = 0;
    for (Index j = 1; j < size; ++j)
      for (Index i = 0; i < j; ++i)
        edges |= static_cast<std::uint32_t>(g.adjacent(sets[i], sets[j])) << (pairs(j) + i);
    ++counts[types[edges]];
  }
}

}  // namespace mercer
