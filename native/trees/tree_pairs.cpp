#include "tree_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <vector>

namespace mercer {
namespace {

// Pairs of trees that a thread takes at a time.
constexpr Index kChunk = 32;

// Pairs of nodes between two looks at the clock.
constexpr Index kLook = Index{1} << 14;

// The number m * 2^e, m = 0 or 0.5 <= m < 1: it has no largest value.
struct Wide {
  double m = 0.0;
  Index e = 0;

  Wide() = default;
  Wide(double value, Index exponent = 0) : e(exponent) {
    int shift = 0;
    m = std::frexp(value, &shift);
    e = m == 0.0 ? 0 : e + shift;
  }
  Wide operator*(const Wide& other) const { return {m * other.m, e + other.e}; }
  Wide operator+(const Wide& other) const {
    if (m == 0.0) return other;
    if (other.m == 0.0) return *this;
    const Wide& large = e >= other.e ? *this : other;
    const Wide& small = e >= other.e ? other : *this;
    const Index shift = std::max<Index>(small.e - large.e, -2000);
    return {large.m + std::ldexp(small.m, static_cast<int>(shift)), large.e};
  }
};

// One tree of a forest.
struct TreeView {
  Index size;
  const std::int32_t* keys;
  const std::int32_t* order;
  const double* counts;
  const Index* child_starts;
  const std::int32_t* children;

  TreeView(const Forest& forest, Index i)
      : size(forest.starts[i + 1] - forest.starts[i]),
        keys(forest.keys + forest.starts[i]),
        order(forest.order + forest.starts[i]),
        counts(forest.counts + forest.starts[i]),
        child_starts(forest.child_starts + forest.starts[i]),
        children(forest.children) {}

  Index arity(Index u) const { return child_starts[u + 1] - child_starts[u]; }
  const std::int32_t* children_of(Index u) const { return children + child_starts[u]; }
};

template <class Number>
class PairSum {
 public:
  Number operator()(const TreeView& x, const TreeView& y, const TreeRule& rule, Index most, Watch& watch) {
    match(x, y, most);
    Number total = 0.0;
    Index work = 0;
    for (Index u = 0; u < x.size; ++u) {
      for (Index r = first_[u]; r < last_[u]; ++r) {
        const Index v = y.order[r];
        const Number value = rule.partial ? partial(x, y, u, v, rule) : subset(x, y, u, v, rule);
        values_[static_cast<std::size_t>(offset_[u] + r)] = value;
        const double count = x.counts[u] * y.counts[v];
        if (count != 0.0) total = total + Number(count) * value;
        work += 1 + x.arity(u) * (rule.partial ? y.arity(v) : 1);
        if (work >= kLook) {
          watch.pause();
          work = 0;
        }
      }
    }
    return total;
  }

 private:
  // For each node u of x the stretch of y.order that it matches, and where its values begin.
  void match(const TreeView& x, const TreeView& y, Index most) {
    first_.assign(static_cast<std::size_t>(x.size), 0);
    last_.assign(static_cast<std::size_t>(x.size), 0);
    offset_.resize(static_cast<std::size_t>(x.size));
    rank_.resize(static_cast<std::size_t>(y.size));
    for (Index r = 0; r < y.size; ++r) rank_[y.order[r]] = r;
    Index i = 0, j = 0, found = 0;
    while (i < x.size && x.keys[x.order[i]] < 0) ++i;
    while (i < x.size && j < y.size) {
      const std::int32_t key = x.keys[x.order[i]], other = y.keys[y.order[j]];
      if (key > other) {
        ++j;
      } else if (key < other) {
        ++i;
      } else {
        Index end = j + 1;
        while (end < y.size && y.keys[y.order[end]] == key) ++end;
        for (; i < x.size && x.keys[x.order[i]] == key; ++i) {
          const Index u = x.order[i];
          first_[u] = j;
          last_[u] = end;
          offset_[u] = found - j;
          found += end - j;
        }
        j = end;
      }
    }
    if (found > most) throw std::bad_alloc();
    if (static_cast<std::size_t>(found) > values_.size()) values_.resize(static_cast<std::size_t>(found));
  }

  // The value of a pair that has been visited before; null if it does not match.
  const Number* value(Index u, Index v) const {
    const Index r = rank_[v];
    return r >= first_[u] && r < last_[u] ? &values_[static_cast<std::size_t>(offset_[u] + r)] : nullptr;
  }

  Number subset(const TreeView& x, const TreeView& y, Index u, Index v, const TreeRule& rule) const {
    const std::int32_t *a = x.children_of(u), *b = y.children_of(v);
    Number product = rule.decay;
    for (Index j = 0; j < x.arity(u); ++j) {
      const Number* below = x.arity(a[j]) == 0 ? nullptr : value(a[j], b[j]);
      if (below != nullptr) product = product * (Number(1.0) + *below);
    }
    return product;
  }

  Number partial(const TreeView& x, const TreeView& y, Index u, Index v, const TreeRule& rule) {
    const std::int32_t *a = x.children_of(u), *b = y.children_of(v);
    const Index rows = x.arity(u), cols = y.arity(v);
    const Number gap = rule.gap_decay, squared = rule.gap_decay * rule.gap_decay;
    Number total = 0.0;
    // spread_[j]: subsequences that end before child i of u and at most at child j - 1 of v, each decayed up
    // to there.
    spread_.assign(static_cast<std::size_t>(cols + 1), Number(0.0));
    for (Index i = 0; i < rows; ++i) {
      Number along = 0.0, before = spread_[0];
      for (Index j = 0; j < cols; ++j) {
        along = gap * along;
        const Number* below = value(a[i], b[j]);
        if (below != nullptr) {
          const Number ends = squared * *below * (Number(1.0) + before);
          total = total + ends;
          along = along + ends;
        }
        before = spread_[static_cast<std::size_t>(j + 1)];
        spread_[static_cast<std::size_t>(j + 1)] = gap * before + along;
      }
    }
    return Number(rule.decay) * (squared + total);
  }

  std::vector<Index> first_, last_, offset_, rank_;
  std::vector<Number> values_, spread_;
};

struct Scratch {
  PairSum<double> plain;
  PairSum<Wide> wide;
};

}  // namespace

void tree_pairs(const TreePairs& pairs, const TreeRule& rule, Index most, double* sums, double* exponents,
                int threads, const Look& look) {
  auto body = [&](Index chunk, Watch& watch, Scratch& scratch) {
    watch.pause();
    const Index end = std::min(pairs.count, (chunk + 1) * kChunk);
    for (Index p = chunk * kChunk; p < end; ++p) {
      const TreeView x(pairs.X, pairs.rows[p]), y(pairs.Y, pairs.cols[p]);
      sums[p] = scratch.plain(x, y, rule, most, watch);
      exponents[p] = 0.0;
      if (std::isfinite(sums[p])) continue;
      const Wide total = scratch.wide(x, y, rule, most, watch);
      sums[p] = total.m;
      exponents[p] = static_cast<double>(total.e);
    }
  };
  watched_loop<Scratch>((pairs.count + kChunk - 1) / kChunk, threads, look, body);
}

}  // namespace mercer
