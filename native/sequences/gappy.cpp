#include "gappy.hpp"

#include <algorithm>
#include <vector>

#include "windows.hpp"

namespace mercer {
namespace {

// Sums of weights of the k-grams of one row, k = 1 .. n, by the letters read so far.
class Levels {
 public:
  Levels(Index n, Index base, double decay) : base_(base), decay_(decay) {
    Index total = 0, width = 1;
    for (Index k = 0; k < n; ++k, total += width, width *= base) levels_.push_back({total, width});
    weights_.resize(as_size(total));
  }

  void read(const std::int32_t* codes, Index size, double* out) {
    std::fill(weights_.begin(), weights_.end(), 0.0);
    std::fill_n(out, levels_.back().width * base_, 0.0);
    weights_[0] = 1.0;  // the empty gram
    for (Index t = 0; t < size; ++t) add(codes[t], out);
  }

 private:
  struct Level {
    Index begin, width;
  };

  // A letter c makes (k+1)-grams of the k-grams before it, those whose first digit is c; it makes the gap
  // behind all others longer.  The longest come first: each is made of shorter ones as they were before this
  // letter.
  void add(Index c, double* out) {
    bool known = c >= 0 && c < base_;
    for (std::size_t k = levels_.size(); k-- > 0;) {
      const Level& below = levels_[k];
      bool whole = k + 1 == levels_.size();
      double* above = whole ? out : weights_.data() + levels_[k + 1].begin;
      if (!whole)
        for (Index z = 0; z < below.width * base_; ++z) above[z] *= decay_;
      if (!known) continue;
      const double* from = weights_.data() + below.begin;
      double* to = above + c * below.width;
      for (Index z = 0; z < below.width; ++z) to[z] += from[z];
    }
  }

  Index base_;
  double decay_;
  std::vector<Level> levels_;  // of the 0-grams .. (n-1)-grams
  std::vector<double> weights_;
};

}  // namespace

void gappy_features(const std::int32_t* codes, const Index* starts, Index rows, Index n, Index base,
                    Index power, double decay, double* out, int threads) {
  threads = worth(threads, static_cast<double>(starts[rows] - starts[0]) * static_cast<double>(power));
  std::vector<Levels> levels(static_cast<std::size_t>(threads), Levels(n, base, decay));
#pragma omp parallel for schedule(static, 1) num_threads(threads) if (threads > 1)
  for (int t = 0; t < threads; ++t)
    for (Index i = t; i < rows; i += threads)
      levels[as_size(t)].read(codes + starts[i], starts[i + 1] - starts[i], out + i * power);
}

// ends[k, q] is what the pairs of (k + 1)-grams weigh that end before the current letter of x and not after
// letter q of y, their gaps up to there included.  All terms are positive: nothing cancels.
double gappy_steps(const std::int32_t* x, Index first, Index last, const std::int32_t* y, Index y_size,
                   Index n, double decay, double* ends) {
  double sum = 0.0;
  for (Index p = first; p < last; ++p)
    for (Index k = std::min(n - 1, p); k >= 0; --k) {
      const double* shorter = k > 0 ? ends + (k - 1) * y_size : nullptr;
      double* own = k < n - 1 ? ends + k * y_size : nullptr;
      double along = 0.0;
      for (Index q = k; q < y_size; ++q) {
        double ending = x[p] != y[q] ? 0.0 : shorter == nullptr ? 1.0 : shorter[q - 1];
        along = decay * along + ending;
        if (own != nullptr)
          own[q] = decay * own[q] + along;
        else
          sum += ending;
      }
    }
  return sum;
}

void gappy_values(const Chosen& X, const Chosen& Y, Index n, double decay, double* out, int threads) {
  double letters = 0.0, others = 0.0;
  for (Index i = 0; i < X.count; ++i) letters += static_cast<double>(X.size(i));
  for (Index j = 0; j < Y.count; ++j) others += static_cast<double>(Y.size(j));
  threads = worth(threads, letters * others * static_cast<double>(n));
  Index longest = 0;
  for (Index j = 0; j < Y.count; ++j) longest = std::max(longest, Y.size(j));
  std::size_t room = n <= longest ? as_size((n - 1) * longest) : 0;
  std::vector<std::vector<double>> ends(static_cast<std::size_t>(threads), std::vector<double>(room));
#pragma omp parallel for schedule(static, 1) num_threads(threads) if (threads > 1)
  for (int t = 0; t < threads; ++t)
    for (Index pair = t; pair < X.count * Y.count; pair += threads) {
      Index i = pair / Y.count, j = pair % Y.count;
      bool fits = n <= X.size(i) && n <= Y.size(j);
      std::vector<double>& own = ends[as_size(t)];
      if (fits) std::fill_n(own.begin(), (n - 1) * Y.size(j), 0.0);
      out[pair] =
          fits ? gappy_steps(X.begin(i), 0, X.size(i), Y.begin(j), Y.size(j), n, decay, own.data()) : 0.0;
    }
}

}  // namespace mercer
