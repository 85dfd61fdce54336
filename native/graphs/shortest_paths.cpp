#include "shortest_paths.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <tuple>
#include <utility>

namespace mercer {
namespace {

constexpr double kFar = std::numeric_limits<double>::infinity();

// Counts by key, with open addressing; a count of 0 marks a free place.
class Counter {
 public:
  void add(std::int32_t from, std::int32_t to, double length) {
    if (2 * used_ >= places_.size()) grow();
    PathCount& place = find(from, to, length);
    used_ += place.count++ == 0;
  }

  // The counts in order; the counter is empty afterwards.
  std::vector<PathCount> take() {
    std::vector<PathCount> found;
    found.reserve(used_);
    for (PathCount& place : places_)
      if (place.count != 0) found.push_back(std::exchange(place, PathCount{}));
    used_ = 0;
    std::sort(found.begin(), found.end(), [](const PathCount& a, const PathCount& b) {
      return std::tie(a.from, a.to, a.length) < std::tie(b.from, b.to, b.length);
    });
    return found;
  }

 private:
  PathCount& find(std::int32_t from, std::int32_t to, double length) {
    std::uint64_t ends =
        static_cast<std::uint64_t>(static_cast<std::uint32_t>(from)) << 32 | static_cast<std::uint32_t>(to);
    // Small whole numbers differ in the leading bits of a double alone: these become the trailing ones.
    std::uint64_t bits = std::rotl(std::bit_cast<std::uint64_t>(length), 16);
    std::uint64_t hash = (ends * 0x9E3779B97F4A7C15u + bits) * 0xD6E8FEB86659FD93u;
    std::size_t mask = places_.size() - 1, i = hash >> 32 & mask;
    while (places_[i].count != 0 &&
           !(places_[i].from == from && places_[i].to == to && places_[i].length == length))
      i = (i + 1) & mask;
    places_[i].from = from, places_[i].to = to, places_[i].length = length;
    return places_[i];
  }

  void grow() {
    std::vector<PathCount> before(std::max<std::size_t>(64, 2 * places_.size()));
    before.swap(places_);
    for (const PathCount& p : before)
      if (p.count != 0) find(p.from, p.to, p.length).count = p.count;
  }

  std::vector<PathCount> places_;
  std::size_t used_ = 0;
};

struct Search {
  std::vector<double> distance;
  std::vector<std::int32_t> reached;  // in the order of their distances, the source first
  std::vector<std::pair<double, std::int32_t>> heap;
  Counter counter;
};

void breadth_first(const GraphBatch& graphs, Index first, std::int32_t source, Search& s) {
  s.reached.assign(1, source);
  s.distance[source] = 0;
  for (std::size_t next = 0; next < s.reached.size(); ++next) {
    std::int32_t u = s.reached[next];
    for (Index a = graphs.arc_starts[first + u]; a < graphs.arc_starts[first + u + 1]; ++a) {
      std::int32_t v = graphs.targets[a];
      if (s.distance[v] != kFar) continue;
      s.distance[v] = s.distance[u] + 1;
      s.reached.push_back(v);
    }
  }
}

// Dijkstra's algorithm.  A node may be in the heap several times; the first that comes out counts.
void dijkstra(const GraphBatch& graphs, const double* weights, Index first, std::int32_t source, Search& s) {
  auto later = [](const auto& a, const auto& b) { return a.first > b.first; };
  s.reached.clear();
  s.distance[source] = 0;
  s.heap.assign(1, {0.0, source});
  while (!s.heap.empty()) {
    std::pop_heap(s.heap.begin(), s.heap.end(), later);
    auto [d, u] = s.heap.back();
    s.heap.pop_back();
    if (d > s.distance[u]) continue;
    s.reached.push_back(u);
    for (Index a = graphs.arc_starts[first + u]; a < graphs.arc_starts[first + u + 1]; ++a) {
      std::int32_t v = graphs.targets[a];
      double length = d + weights[a];
      if (length >= s.distance[v]) continue;
      s.distance[v] = length;
      s.heap.emplace_back(length, v);
      std::push_heap(s.heap.begin(), s.heap.end(), later);
    }
  }
}

}  // namespace

std::vector<std::vector<PathCount>> count_paths(const GraphBatch& graphs, const std::int32_t* classes,
                                                const double* weights, int threads, const Look& look) {
  std::vector<std::vector<PathCount>> found(static_cast<std::size_t>(graphs.count));
  watched_loop<Search>(graphs.count, threads, look, [&](Index i, Watch& watch, Search& s) {
    Index first = graphs.node_starts[i], n = graphs.size(i);
    s.distance.assign(static_cast<std::size_t>(n), kFar);
    for (std::int32_t source = 0; source < n; ++source) {
      watch.pause();
      if (weights == nullptr)
        breadth_first(graphs, first, source, s);
      else
        dijkstra(graphs, weights, first, source, s);
      for (std::int32_t v : s.reached) {
        if (v != source) s.counter.add(classes[first + source], classes[first + v], s.distance[v]);
        s.distance[v] = kFar;
      }
    }
    found[static_cast<std::size_t>(i)] = s.counter.take();
  });
  return found;
}

}  // namespace mercer
