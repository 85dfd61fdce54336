#include "tree_walks.hpp"

#include <algorithm>
#include <vector>

namespace mercer {
namespace {

using Vector = std::vector<double>;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// Sets of at most `arity` columns.  Those of the first c columns are the first ends[c] ones; set 0 is empty.
// Taking away one column of set U leaves an earlier set: rests[k] without columns[k], starts[U] <= k <
// starts[U + 1].
struct ColumnSets {
  std::vector<Index> ends{1}, starts{0, 0}, columns, rests;

  ColumnSets(Index most, Index arity) {
    std::vector<Index> sizes{0}, with;
    for (Index c = 0; c < most; ++c) {
      with.assign(at(ends.back()), 0);  // the number of each earlier set with column c added
      for (Index U = 0; U < ends.back(); ++U) {
        if (sizes[at(U)] == arity) continue;
        with[at(U)] = static_cast<Index>(sizes.size());
        for (Index k = starts[at(U)]; k < starts[at(U + 1)]; ++k) {
          const Index column = columns[at(k)], rest = with[at(rests[at(k)])];
          columns.push_back(column), rests.push_back(rest);
        }
        columns.push_back(c), rests.push_back(U);
        starts.push_back(static_cast<Index>(columns.size()));
        sizes.push_back(sizes[at(U)] + 1);
      }
      ends.push_back(static_cast<Index>(sizes.size()));
    }
  }
};

// A matrix of factors between the arcs of two nodes, without its rows and columns of zeros.
struct Matchings {
  Vector values, sums;
  std::vector<Index> kept;  // columns

  // Sum over all matchings, the empty one among them, of the products of their entries: row by row, with the
  // sum of those that use exactly the columns of a set.
  double total(const ColumnSets& sets, Index rows, Index columns, Watch& watch) {
    kept.clear();
    for (Index c = 0; c < columns; ++c)
      for (Index r = 0; r < rows; ++r)
        if (values[at(r * columns + c)] != 0.0) {
          kept.push_back(c);
          break;
        }
    if (kept.empty()) return 1.0;
    const Index width = static_cast<Index>(kept.size()), count = sets.ends[at(width)];
    sums.assign(at(count), 0.0);
    sums[0] = 1.0;
    for (Index r = 0; r < rows; ++r) {
      double* row = &values[at(r * columns)];
      bool zero = true;
      for (Index c = 0; c < width; ++c) {
        row[c] = row[kept[at(c)]];  // kept[c] >= c: nothing is overwritten before it is read
        zero &= row[c] == 0.0;
      }
      if (zero) continue;
      watch.pause();
      for (Index U = count - 1; U > 0; --U) {  // smaller sets still lack this row
        if (U % 65536 == 0) watch.pause();     // many sets: milliseconds
        double sum = 0.0;
        for (Index k = sets.starts[at(U)]; k < sets.starts[at(U + 1)]; ++k)
          sum += row[sets.columns[at(k)]] * sums[at(sets.rests[at(k)])];
        sums[at(U)] += sum;
      }
    }
    double all = 0.0;
    for (double sum : sums) all += sum;
    return all;
  }
};

struct TreeScratch {
  Vector similarities, table, next;
  Matchings matchings;
};

Index most_arcs(const GraphBatch& graphs) {
  Index most = 0;
  for (Index v = 0; v < graphs.node_starts[graphs.count]; ++v)
    most = std::max(most, graphs.arc_starts[v + 1] - graphs.arc_starts[v]);
  return most;
}

}  // namespace

void tree_walk_sums(const WalkGraphs& X, const WalkGraphs& Y, const Similarities& nodes,
                    const Similarities& arcs, Index depth, Index arity, double decay, const Index* rows,
                    const Index* cols, Index count, double* out, int threads, const Look& look) {
  const GraphBatch &x = X.batch, &y = Y.batch;
  const ColumnSets sets(depth > 1 ? std::min(most_arcs(x), most_arcs(y)) : 0, arity);
  watched_loop<TreeScratch>(count, threads, look, [&](Index p, Watch& watch, TreeScratch& scratch) {
    watch.pause();
    const Index x0 = x.node_starts[rows[p]], n = x.size(rows[p]);
    const Index y0 = y.node_starts[cols[p]], m = y.size(cols[p]);
    Vector &similarities = scratch.similarities, &table = scratch.table, &next = scratch.next;
    similarities.resize(at(n * m));
    for (Index u = 0; u < n; ++u)
      for (Index v = 0; v < m; ++v)
        similarities[at(u * m + v)] = nodes(X.node_codes[x0 + u], Y.node_codes[y0 + v]);
    table = similarities;
    next.assign(at(n * m), 0.0);
    for (Index d = 1; d < depth; ++d) {
      for (Index u = 0; u < n; ++u)
        for (Index v = 0; v < m; ++v) {
          const double similarity = similarities[at(u * m + v)];
          if (similarity == 0.0) continue;
          watch.pause();
          const Index a0 = x.arc_starts[x0 + u], a_count = x.arc_starts[x0 + u + 1] - a0;
          const Index b0 = y.arc_starts[y0 + v], b_count = y.arc_starts[y0 + v + 1] - b0;
          const bool by_x = a_count >= b_count;  // the node with more arcs has the rows
          scratch.matchings.values.resize(at(a_count * b_count));
          for (Index a = 0; a < a_count; ++a)
            for (Index b = 0; b < b_count; ++b) {
              const double below = table[at(x.targets[a0 + a] * m + y.targets[b0 + b])];
              const double weight = X.weights[a0 + a] * Y.weights[b0 + b];
              const double alike = arcs(X.arc_codes[a0 + a], Y.arc_codes[b0 + b]);
              scratch.matchings.values[at(by_x ? a * b_count + b : b * a_count + a)] =
                  below == 0.0 ? 0.0 : decay * weight * alike * below;
            }
          const double total =
              scratch.matchings.total(sets, std::max(a_count, b_count), std::min(a_count, b_count), watch);
          next[at(u * m + v)] = similarity * total;
        }
      table.swap(next);
    }
    double sum = 0.0;
    for (double value : table) sum += value;
    out[p] = sum;
  });
}

}  // namespace mercer
