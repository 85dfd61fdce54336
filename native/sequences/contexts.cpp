#include "sequences/contexts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace mercer {

namespace {

constexpr std::int32_t kBoundary = -1;

// log(q e^top + rest e^low) for top >= low and q + rest = 1.  Near each other, the difference to `top` is
// small and must not be lost; far from each other, q may be the smaller part and must not be lost.
double mix_sorted(double top, double low, double q, double rest) {
  double gap = low - top;
  return gap > -1.0 ? top + std::log1p(rest * std::expm1(gap)) : top + std::log(q + rest * std::exp(gap));
}

// log((1 - p) e^own + p e^below)
double mix(double own, double below, double p) {
  if (p == 0.0) return own;
  if (p == 1.0) return below;
  return own >= below ? mix_sorted(own, below, 1.0 - p, p) : mix_sorted(below, own, p, 1.0 - p);
}

}  // namespace

double log_rising(double b, double r) {
  if (r == 0.0) return 0.0;
  // Gamma(b + r) / Gamma(b) = Gamma(z + r) / Gamma(z) / prod (1 + r / (b + k)) with z = b + number of
  // factors, large enough for Stirling's series.  The product minus one is kept, and differences are taken by
  // hand.
  constexpr double kLarge = 10.0;
  double excess = 0.0, z = b;
  for (; z < kLarge; z += 1.0) excess += (1.0 + excess) * (r / z);
  double w = z + r;
  constexpr double kSeries[] = {1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188, -691.0 / 360360};
  // sum c_k (w^-(2k+1) - z^-(2k+1)), with 1/w - 1/z = -r / (z w) factored out
  double iz = 1.0 / z, iw = 1.0 / w, pz = 1.0, quotient = 1.0, tail = 0.0;
  for (double c : kSeries) {
    tail += c * quotient;
    // (w^-(k+2) - z^-(k+2)) / (1/w - 1/z) from the one of k, twice
    pz *= iz;
    quotient = quotient * iw + pz;
    pz *= iz;
    quotient = quotient * iw + pz;
  }
  double stirling = (z - 0.5) * std::log1p(r / z) + r * (std::log(w) - 1.0) - r * iz * iw * tail;
  return stirling - std::log1p(excess);
}

// Builds the tree of one string.
class ContextForest::Grower {
 public:
  void grow(const std::int32_t* text, Index n, const ContextModel& model, Tree& tree) {
    text_ = text, model_ = &model, tree_ = &tree;
    Index first = model.boundary ? 0 : std::min(model.depth, n);
    tree.scale = n > first ? model.sigma / static_cast<double>(n - first) : 0.0;
    rank_letters(n);
    positions_.resize(static_cast<std::size_t>(n - first));
    std::iota(positions_.begin(), positions_.end(), static_cast<std::int32_t>(first));
    for (Index back = std::min(model.depth, n); back >= 1; --back) sort_by(back);
    known_.clear();
    tree.nodes.reserve(positions_.size());
    add(kBoundary, 0, static_cast<Index>(positions_.size()), 0);
    tree.nodes.shrink_to_fit(), tree.counts.shrink_to_fit();
  }

 private:
  const std::int32_t* text_ = nullptr;
  const ContextModel* model_ = nullptr;
  Tree* tree_ = nullptr;
  std::vector<std::int32_t> letters_, ranks_;     // letters of the string in order; their numbers by place
  std::vector<std::int32_t> positions_, sorted_;  // letters of the string, by their contexts
  std::vector<Index> begin_;
  std::vector<std::int32_t> amounts_, met_;  // counts by rank, all zero in between; ranks that count
  std::vector<double> known_;                // log evidence of small counts

  void rank_letters(Index n) {
    letters_.assign(text_, text_ + n);
    std::sort(letters_.begin(), letters_.end());
    letters_.erase(std::unique(letters_.begin(), letters_.end()), letters_.end());
    amounts_.assign(letters_.size(), 0);
    ranks_.resize(static_cast<std::size_t>(n));
    for (Index i = 0; i < n; ++i)
      ranks_[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(
          std::lower_bound(letters_.begin(), letters_.end(), text_[i]) - letters_.begin());
  }
  // Rank of the letter `back` places before a position; 0 before the begin.
  std::size_t key(std::int32_t position, Index back) const {
    return position < back ? 0
                           : static_cast<std::size_t>(ranks_[static_cast<std::size_t>(position - back)]) + 1;
  }
  // Stable counting sort.
  void sort_by(Index back) {
    begin_.assign(letters_.size() + 2, 0);
    for (std::int32_t p : positions_) ++begin_[key(p, back) + 1];
    for (std::size_t k = 1; k < begin_.size(); ++k) begin_[k] += begin_[k - 1];
    sorted_.resize(positions_.size());
    for (std::int32_t p : positions_) sorted_[static_cast<std::size_t>(begin_[key(p, back)]++)] = p;
    positions_.swap(sorted_);
  }

  // Adds the node of positions[low, high), whose contexts agree in `depth` letters, and all below; returns
  // its log L.
  double add(std::int32_t symbol, Index low, Index high, Index depth) {
    auto me = tree_->nodes.size();
    tree_->nodes.push_back({symbol, 0, static_cast<std::int32_t>(tree_->counts.size()), 0.0});
    double value = count(low, high);
    if (depth < model_->depth && !(depth > 0 && symbol == kBoundary) && low < high) {
      double below = 0.0;
      for (Index start = low; start < high;) {
        std::size_t k = key(positions_[static_cast<std::size_t>(start)], depth + 1);
        Index stop = start + 1;
        while (stop < high && key(positions_[static_cast<std::size_t>(stop)], depth + 1) == k) ++stop;
        below += add(k == 0 ? kBoundary : letters_[k - 1], start, stop, depth + 1);
        start = stop;
      }
      value = mix(value, below, model_->split);
    }
    tree_->nodes[me].value = value;
    tree_->nodes[me].end = static_cast<std::int32_t>(tree_->nodes.size());
    return value;
  }
  // Adds the counts of the letters at positions[low, high); returns the log evidence.
  double count(Index low, Index high) {
    met_.clear();
    for (Index i = low; i < high; ++i) {
      std::int32_t rank = ranks_[static_cast<std::size_t>(positions_[static_cast<std::size_t>(i)])];
      if (amounts_[static_cast<std::size_t>(rank)]++ == 0) met_.push_back(rank);
    }
    std::sort(met_.begin(), met_.end());
    double total =
        -log_rising(model_->letters * model_->prior, static_cast<double>(high - low) * tree_->scale);
    for (std::int32_t rank : met_) {
      std::int32_t& amount = amounts_[static_cast<std::size_t>(rank)];
      tree_->counts.push_back({letters_[static_cast<std::size_t>(rank)], amount});
      total += rising(amount);
      amount = 0;
    }
    return total;
  }
  double rising(std::int32_t amount) {
    constexpr std::size_t kFew = 32;
    auto i = static_cast<std::size_t>(amount);
    if (i >= kFew) return log_rising(model_->prior, amount * tree_->scale);
    if (known_.empty()) known_.assign(kFew, std::numeric_limits<double>::quiet_NaN());
    if (std::isnan(known_[i])) known_[i] = log_rising(model_->prior, amount * tree_->scale);
    return known_[i];
  }
};

// Walks through two trees at once.
class ContextForest::Pairing {
 public:
  double value(const Tree& a, const Tree& b, const ContextModel& model) {
    if (a.scale != a_scale_ || b.scale != b_scale_ || model_ != &model) {
      letters_.fill(), totals_.fill();
      a_scale_ = a.scale, b_scale_ = b.scale;
    }
    a_ = &a, b_ = &b, model_ = &model;
    return merge(0, 0, 0);
  }

 private:
  // Log rising factorials of small pairs of amounts, which most contexts have, as they are needed.
  struct Known {
    static constexpr std::int32_t kFew = 16;
    std::vector<double> values = std::vector<double>(kFew * kFew);
    void fill() { std::fill(values.begin(), values.end(), std::numeric_limits<double>::quiet_NaN()); }
    template <class Compute>
    double get(std::int32_t x, std::int32_t y, Compute&& compute) {
      if (x >= kFew || y >= kFew) return compute();
      double& known = values[static_cast<std::size_t>(x * kFew + y)];
      if (std::isnan(known)) known = compute();
      return known;
    }
  };

  const Tree* a_ = nullptr;
  const Tree* b_ = nullptr;
  const ContextModel* model_ = nullptr;
  double a_scale_ = std::numeric_limits<double>::quiet_NaN(), b_scale_ = 0.0;
  Known letters_, totals_;

  double rising(Known& known, double prior, std::int32_t x, std::int32_t y) {
    return known.get(x, y, [&] { return log_rising(prior, x * a_scale_ + y * b_scale_); });
  }
  static std::size_t end_of_counts(const Tree& tree, std::int32_t node) {
    auto next = static_cast<std::size_t>(node) + 1;
    return next < tree.nodes.size() ? static_cast<std::size_t>(tree.nodes[next].count) : tree.counts.size();
  }

  double evidence(std::int32_t x, std::int32_t y) {
    const Count *c = a_->counts.data() + a_->nodes[static_cast<std::size_t>(x)].count,
                *c_end = a_->counts.data() + end_of_counts(*a_, x);
    const Count *d = b_->counts.data() + b_->nodes[static_cast<std::size_t>(y)].count,
                *d_end = b_->counts.data() + end_of_counts(*b_, y);
    std::int32_t c_total = 0, d_total = 0;
    double total = 0.0;
    while (c != c_end || d != d_end) {
      bool left = c != c_end && (d == d_end || c->letter <= d->letter);
      bool right = d != d_end && (c == c_end || d->letter <= c->letter);
      std::int32_t in_a = left ? (c++)->amount : 0, in_b = right ? (d++)->amount : 0;
      total += rising(letters_, model_->prior, in_a, in_b);
      c_total += in_a, d_total += in_b;
    }
    return total - rising(totals_, model_->letters * model_->prior, c_total, d_total);
  }

  double merge(std::int32_t x, std::int32_t y, Index depth) {
    const auto &a = a_->nodes, &b = b_->nodes;
    std::int32_t x_end = a[static_cast<std::size_t>(x)].end, y_end = b[static_cast<std::size_t>(y)].end;
    double own = evidence(x, y);
    if (depth == model_->depth || (depth > 0 && a[static_cast<std::size_t>(x)].symbol == kBoundary))
      return own;
    double below = 0.0;
    for (std::int32_t i = x + 1, j = y + 1; i < x_end || j < y_end;) {
      const Node* left = i < x_end ? &a[static_cast<std::size_t>(i)] : nullptr;
      const Node* right = j < y_end ? &b[static_cast<std::size_t>(j)] : nullptr;
      if (left != nullptr && right != nullptr && left->symbol == right->symbol) {
        below += merge(i, j, depth + 1);
        i = left->end, j = right->end;
      } else if (right == nullptr || (left != nullptr && left->symbol < right->symbol)) {
        below += left->value;
        i = left->end;
      } else {
        below += right->value;
        j = right->end;
      }
    }
    return mix(own, below, model_->split);
  }
};

void ContextForest::plant(Strings strings, int threads) {
  std::size_t before = trees_.size();
  trees_.resize(before + static_cast<std::size_t>(strings.count));
  for_each_row<Grower>(strings.count, threads, [&](Index i, Grower& grower) {
    grower.grow(strings.begin(i), strings.length(i), model_, trees_[before + static_cast<std::size_t>(i)]);
  });
}

Index ContextForest::nodes() const {
  Index total = 0;
  for (const Tree& tree : trees_) total += static_cast<Index>(tree.nodes.size());
  return total;
}

void ContextForest::block(const Index* rows, Index n, const ContextForest& other, const Index* columns,
                          Index m, Index limit, double* out, Index stride, int threads) const {
  for_each_row<Pairing>(n, threads, [&](Index i, Pairing& pairing) {
    const Tree& tree = trees_[static_cast<std::size_t>(rows[i])];
    Index last = std::clamp<Index>(limit + i, 0, m);
    for (Index j = 0; j < last; ++j)
      out[i * stride + j] = pairing.value(tree, other.trees_[static_cast<std::size_t>(columns[j])], model_);
  });
}

void ContextForest::diagonal(const Index* rows, Index n, double* out, int threads) const {
  for_each_row<Pairing>(n, threads, [&](Index i, Pairing& pairing) {
    const Tree& tree = trees_[static_cast<std::size_t>(rows[i])];
    out[i] = pairing.value(tree, tree, model_);
  });
}

}  // namespace mercer
