// The forward-backward recursion of hidden Markov models, for several sequences side by side.
//
// With a(t) the forward variables of Rabiner (1989), scaled to the sum 1 by c(t), and b(t) the backward ones:
//   a(t)_j = e(t)_j sum_i a(t - 1)_i A_ij / c(t),   w(t)_j = e(t)_j b(t)_j / c(t),   b(t - 1) = A w(t)
//   log p = sum of log c(t),   P(state at t) = a(t) b(t),   moves_ij = A_ij sum_t a(t - 1)_i w(t)_j
// A lane that has come to its end goes on with e = 1 and is left out of all sums.  What a lane computes does
// not depend on the others.
//
// A weight that falls below every float is lost.  That makes no difference if all transitions are possible,
// as the other weights reach its state in the next step.  If not, weights that are about to be lost are
// compared with b: where their paths are not negligible, the logarithm of the lane is NaN, and its other sums
// are 0.
#include "tiles.hpp"

namespace mercer::MERCER_TILES {
namespace {

// Products of scales are flushed into the logarithm below this; smaller scales are flushed by themselves.
constexpr double kSmall = 1e-100;

// A weight a(t)_j below this may be lost in the next step; a transition below it counts as impossible.
constexpr double kFaint = 1e-100;

// Posterior probability of a state that does not count.
constexpr double kNegligible = 1e-25;

MERCER_INLINE double natural_log(double x) {
#if MERCER_VECTORS
  return __builtin_log(x);
#else
  return log(x);
#endif
}

template <class V>
MERCER_INLINE V get(const double* p) {
  V a;
  std::memcpy(&a, p, sizeof a);
  return a;
}
template <class V>
MERCER_INLINE void put(double* p, V a) {
  std::memcpy(p, &a, sizeof a);
}

// out_j = sum_i x_i M[i * down + j * right], for j = 0 .. S - 1, in the order of i; four of them at a time.
template <class V, int L>
MERCER_INLINE void times(const double* x, const double* M, Index down, Index right, Index S, double* out) {
  Index j = 0;
  for (; j + 4 <= S; j += 4) {
    V s0 = constant<V>(0.0), s1 = s0, s2 = s0, s3 = s0;
    const double* m = M + j * right;
    for (Index i = 0; i < S; ++i, m += down) {
      V xi = get<V>(x + i * L);
      s0 = muladd(xi, constant<V>(m[0]), s0);
      s1 = muladd(xi, constant<V>(m[right]), s1);
      s2 = muladd(xi, constant<V>(m[2 * right]), s2);
      s3 = muladd(xi, constant<V>(m[3 * right]), s3);
    }
    put(out + j * L, s0), put(out + (j + 1) * L, s1), put(out + (j + 2) * L, s2), put(out + (j + 3) * L, s3);
  }
  for (; j < S; ++j) {
    V s0 = constant<V>(0.0);
    for (Index i = 0; i < S; ++i) s0 = muladd(get<V>(x + i * L), constant<V>(M[i * down + j * right]), s0);
    put(out + j * L, s0);
  }
}

// Where the numbers of a group lie: everything has L lanes innermost.
template <int L>
struct Group {
  const HiddenChain& chain;
  Index S, longest;
  bool careful;  // whether a lost weight may matter
  Index first[L], length[L];
  double *forward, *seen, *scales, *moves, *b, *w;

  MERCER_INLINE const double* row(Index lane, Index t) const {
    Index step = first[lane] + t;
    return chain.emissions + (chain.codes ? chain.codes[step] : step) * S;
  }
};

// a(t), e(t) and 1 / c(t) of all steps; logs[l] is -infinity if the sequence is impossible, and NaN if it
// only seems so.
template <class V, int L>
void forward_pass(Group<L>& g, double* logs, Pause pause) {
  const Index S = g.S;
  double product[L];
  bool faint[L];
  for (int l = 0; l < L; ++l) product[l] = 1.0, logs[l] = 0.0, faint[l] = false;
  for (Index t = 0; t < g.longest; ++t) {
    double *a = g.forward + t * S * L, *e = g.seen + t * S * L;
    for (int l = 0; l < L; ++l) {
      if (t < g.length[l]) {
        const double* from = g.row(l, t);
        for (Index j = 0; j < S; ++j) e[j * L + l] = from[j];
      } else {
        for (Index j = 0; j < S; ++j) e[j * L + l] = 1.0;
      }
    }
    if (t == 0) {
      for (Index j = 0; j < S; ++j) put(a + j * L, constant<V>(g.chain.start[j]));
    } else {
      times<V, L>(a - S * L, g.chain.transitions, S, 1, S, a);
    }
    V sum = constant<V>(0.0);
    for (Index j = 0; j < S; ++j) {
      V x = get<V>(a + j * L) * get<V>(e + j * L);
      put(a + j * L, x);
      sum = sum + x;
    }
    double c[L], inverse[L];
    put(c, sum);
    for (int l = 0; l < L; ++l) {
      bool possible = c[l] > 0;
      inverse[l] = possible ? 1.0 / c[l] : 0.0;
      if (t >= g.length[l]) continue;
      if (g.careful)
        for (Index j = 0; j < S; ++j) faint[l] |= a[j * L + l] > 0 && a[j * L + l] < kFaint * c[l];
      if (!possible) {
        logs[l] = -kInfinity;
      } else if (c[l] < kSmall) {
        logs[l] += natural_log(c[l]);
      } else if ((product[l] *= c[l]) < kSmall) {
        logs[l] += natural_log(product[l]);
        product[l] = 1.0;
      }
    }
    V scale = get<V>(inverse);
    put(g.scales + t * L, scale);
    for (Index j = 0; j < S; ++j) put(a + j * L, get<V>(a + j * L) * scale);
    if (t % 256 == 255) pause.call(pause.context);
  }
  for (int l = 0; l < L; ++l)
    logs[l] = faint[l] && logs[l] == -kInfinity ? __builtin_nan("") : logs[l] + natural_log(product[l]);
}

// Turns a(t) into posteriors, from the last step to the first, and adds up the expected transitions.  Sets
// logs[l] to NaN if a weight was lost that matters.
template <class V, int L>
void backward_pass(Group<L>& g, double* logs, Pause pause) {
  const Index S = g.S;
  for (Index k = 0; k < S * S; ++k) put(g.moves + k * L, constant<V>(0.0));
  for (Index i = 0; i < S; ++i) put(g.b + i * L, constant<V>(1.0));
  for (Index t = g.longest - 2; t >= 0; --t) {
    double* a = g.forward + t * S * L;
    const double* e = a - g.forward + g.seen + S * L;
    V scale = get<V>(g.scales + (t + 1) * L);
    for (Index j = 0; j < S; ++j) put(g.w + j * L, get<V>(e + j * L) * get<V>(g.b + j * L) * scale);
    bool ended = false;
    for (int l = 0; l < L; ++l)
      if (t + 1 >= g.length[l]) {
        ended = true;
        for (Index j = 0; j < S; ++j) g.w[j * L + l] = 0.0;
      }
    times<V, L>(g.w, g.chain.transitions, 1, S, S, g.b);
    for (Index i = 0; i < S; ++i) {
      V ai = get<V>(a + i * L);
      double* m = g.moves + i * S * L;
      for (Index j = 0; j < S; ++j) put(m + j * L, muladd(ai, get<V>(g.w + j * L), get<V>(m + j * L)));
    }
    if (ended)
      for (int l = 0; l < L; ++l)
        if (t + 1 >= g.length[l])
          for (Index i = 0; i < S; ++i) g.b[i * L + l] = 1.0;
    if (g.careful)
      for (Index k = 0; k < S * L; ++k)
        if (a[k] > 0 && a[k] < kFaint && !(a[k] * g.b[k] < kNegligible)) logs[k % L] = __builtin_nan("");
    for (Index i = 0; i < S; ++i) put(a + i * L, get<V>(a + i * L) * get<V>(g.b + i * L));
    if (t % 256 == 255) pause.call(pause.context);
  }
}

template <int L>
void write_lane(const Group<L>& g, int l, Index s, double log_likelihood, const HiddenSums& sums) {
  const Index S = g.S, rows = g.chain.rows;
  const bool possible = log_likelihood > -kInfinity;
  sums.log_likelihoods[s] = log_likelihood;
  for (Index k = 0; k < S * S; ++k)
    sums.moves[s * S * S + k] = possible ? g.moves[k * L + l] * g.chain.transitions[k] : 0.0;
  for (Index j = 0; j < S; ++j)
    sums.first[s * S + j] = possible && g.length[l] > 0 ? g.forward[j * L + l] : 0.0;
  if (sums.shown)
    for (Index k = 0; k < rows * S; ++k) sums.shown[s * rows * S + k] = 0.0;
  for (Index t = 0; t < g.length[l]; ++t) {
    const double* p = g.forward + t * S * L + l;
    if (sums.posteriors)
      for (Index j = 0; j < S; ++j) sums.posteriors[(g.first[l] + t) * S + j] = possible ? p[j * L] : 0.0;
    if (sums.shown && possible) {
      double* counted = sums.shown + (s * rows + g.chain.codes[g.first[l] + t]) * S;
      for (Index j = 0; j < S; ++j) counted[j] += p[j * L];
    }
  }
}

template <class V, int L>
void hidden(const HiddenChain& chain, const Index* which, Index count, const HiddenSums& sums, double* work,
            Pause pause) {
  const Index S = chain.states;
  bool careful = false;
  for (Index k = 0; k < S * S; ++k) careful |= chain.transitions[k] < kFaint;
  Group<L> g{chain, S, 0, careful, {}, {}, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr};
  for (int l = 0; l < L; ++l) {
    g.first[l] = l < count ? chain.starts[which[l]] : 0;
    g.length[l] = l < count ? chain.starts[which[l] + 1] - g.first[l] : 0;
    if (g.length[l] > g.longest) g.longest = g.length[l];
  }
  g.forward = work;
  g.seen = g.forward + g.longest * S * L;
  g.scales = g.seen + g.longest * S * L;
  g.moves = g.scales + g.longest * L;
  g.b = g.moves + S * S * L;
  g.w = g.b + S * L;
  double logs[L];
  forward_pass<V, L>(g, logs, pause);
  backward_pass<V, L>(g, logs, pause);
  for (Index l = 0; l < count; ++l) write_lane(g, static_cast<int>(l), which[l], logs[l], sums);
}

}  // namespace

void fill_hidden(Table& table) {
  table.hidden_group = hidden<Vec, kLanes>;
  table.hidden_one = hidden<double, 1>;
}

}  // namespace mercer::MERCER_TILES
