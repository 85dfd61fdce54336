// The Kalman filter, forward, and what follows from its gains by recursions forward and backward.
#include "steps.hpp"

namespace mercer {
namespace {

// Steps between two looks for signals.
constexpr std::int64_t kLook = 1 << 15;

// A variance of at most this, relative to the prior one, is rounding.
constexpr double kRounding = 8 * std::numeric_limits<double>::epsilon();

inline void pause(std::int64_t i, const Look& look) {
  if (i % kLook == 0) look();
}

// P is the covariance at the time before; afterwards that at time i, given what is before it.
template <int D>
inline void predict(Steps<D>& steps, const Line& line, std::int64_t i, double* P) {
  if (i == 0) {
    steps.before(line.times[0], P);
    return;
  }
  const Step<D>& step = steps.over(line.times[i] - line.times[i - 1]);
  sandwich<D>(step.A, P, P);
  for (int k = 0; k < D * D; ++k) P[k] += step.Q[k];
}

template <int D>
inline void subtract(double* P, const double* a, const double* b) {
  for (int i = 0; i < D; ++i) {
    for (int j = 0; j < D; ++j) P[i * D + j] -= a[i] * b[j];
  }
}

template <int D>
struct Filter {
  static std::int64_t run(const Line& line, const double* noise, double* gains, double* variances,
                          const Look& look) {
    Steps<D> steps(line);
    double P[D * D], before[D * D], h[D], g[D];
    for (std::int64_t i = 0; i < line.count; ++i) {
      pause(i, look);
      predict<D>(steps, line, i, P);
      steps.weights(line.times[i], h);
      apply<D>(P, h, g);
      const double S = dot<D>(h, g) + noise[i];
      steps.before(line.times[i], before);
      double own[D];
      apply<D>(before, h, own);
      if (!(S > kRounding * dot<D>(h, own)) || !(S > 0.0)) return i;
      double* K = gains + i * D;
      for (int k = 0; k < D; ++k) K[k] = g[k] / S;
      subtract<D>(P, g, K);
      variances[i] = S;
    }
    return line.count;
  }
};

template <int D>
struct Innovations {
  static void run(const Line& line, const double* gains, const double* B, std::int64_t columns, double* V,
                  const Look& look) {
    Steps<D> steps(line);
    std::vector<double> states(static_cast<std::size_t>(columns * D), 0.0);
    double h[D], moved[D];
    for (std::int64_t i = 0; i < line.count; ++i) {
      pause(i, look);
      const double* A = i == 0 ? nullptr : steps.motion(line.times[i] - line.times[i - 1]);
      steps.weights(line.times[i], h);
      const double* K = gains + i * D;
      for (std::int64_t c = 0; c < columns; ++c) {
        double* x = states.data() + c * D;
        if (A != nullptr) {
          apply<D>(A, x, moved);
          std::copy(moved, moved + D, x);
        }
        const double v = B[i * columns + c] - dot<D>(h, x);
        V[i * columns + c] = v;
        for (int k = 0; k < D; ++k) x[k] += K[k] * v;
      }
    }
  }
};

template <int D>
struct Solve {
  static void run(const Line& line, const double* gains, const double* variances, const double* B,
                  std::int64_t columns, double* U, const Look& look) {
    Innovations<D>::run(line, gains, B, columns, U, look);
    Steps<D> steps(line);
    std::vector<double> states(static_cast<std::size_t>(columns * D), 0.0);
    double h[D], moved[D];
    for (std::int64_t i = line.count - 1; i >= 0; --i) {
      pause(i, look);
      const double* A = i == 0 ? nullptr : steps.motion(line.times[i] - line.times[i - 1]);
      steps.weights(line.times[i], h);
      const double* K = gains + i * D;
      for (std::int64_t c = 0; c < columns; ++c) {
        double* r = states.data() + c * D;
        double& u = U[i * columns + c];
        u = u / variances[i] - dot<D>(K, r);
        for (int k = 0; k < D; ++k) r[k] += h[k] * u;
        if (A != nullptr) {
          apply_transposed<D>(A, r, moved);
          std::copy(moved, moved + D, r);
        }
      }
    }
  }
};

// From N after the observation i to N before it; returns the entry i of the diagonal of M^-1.
template <int D>
inline double absorb(const double* h, const double* K, double S, double* N) {
  double NK[D];
  apply<D>(N, K, NK);
  const double entry = 1.0 / S + dot<D>(K, NK);
  for (int i = 0; i < D; ++i) {
    for (int j = 0; j < D; ++j) N[i * D + j] += entry * h[i] * h[j] - h[i] * NK[j] - NK[i] * h[j];
  }
  return entry;
}

template <int D>
struct Diagonal {
  static void run(const Line& line, const double* gains, const double* variances, double* diagonal,
                  const Look& look) {
    Steps<D> steps(line);
    double N[D * D] = {}, h[D];
    for (std::int64_t i = line.count - 1; i >= 0; --i) {
      pause(i, look);
      steps.weights(line.times[i], h);
      diagonal[i] = absorb<D>(h, gains + i * D, variances[i], N);
      if (i > 0) sandwich_transposed<D>(steps.motion(line.times[i] - line.times[i - 1]), N, N);
    }
  }
};

template <int D>
struct Variances {
  static void run(const Line& line, const double* gains, const double* variances, const double* at,
                  std::int64_t queries, double* result, const Look& look) {
    Steps<D> steps(line), aside(line);
    std::vector<double> covariances(static_cast<std::size_t>(queries * D * D));
    double P[D * D], K[D], moved[D * D], h[D];
    std::int64_t q = 0;
    for (; q < queries && (line.count == 0 || at[q] < line.times[0]); ++q) {
      steps.before(at[q], covariances.data() + q * D * D);
    }
    for (std::int64_t i = 0; i < line.count && q < queries; ++i) {
      pause(i, look);
      predict<D>(steps, line, i, P);
      for (int k = 0; k < D; ++k) K[k] = variances[i] * gains[i * D + k];
      subtract<D>(P, K, gains + i * D);
      for (; q < queries && (i + 1 == line.count || at[q] < line.times[i + 1]); ++q) {
        const Step<D>& step = aside.over(at[q] - line.times[i]);
        double* there = covariances.data() + q * D * D;
        sandwich<D>(step.A, P, there);
        for (int k = 0; k < D * D; ++k) there[k] += step.Q[k];
      }
    }
    double N[D * D] = {};
    q = queries - 1;
    for (std::int64_t i = line.count; i >= 0 && q >= 0; --i) {  // N belongs to time i
      pause(i, look);
      if (i < line.count) {
        if (i + 1 < line.count) sandwich_transposed<D>(steps.over(line.times[i + 1] - line.times[i]).A, N, N);
        steps.weights(line.times[i], h);
        absorb<D>(h, gains + i * D, variances[i], N);
      }
      for (; q >= 0 && (i == 0 || at[q] >= line.times[i - 1]); --q) {
        double Ph[D], NPh[D];
        steps.weights(at[q], h);
        apply<D>(covariances.data() + q * D * D, h, Ph);
        double value = dot<D>(h, Ph);
        if (i < line.count) {
          sandwich_transposed<D>(aside.over(line.times[i] - at[q]).A, N, moved);
          apply<D>(moved, Ph, NPh);
          value -= dot<D>(Ph, NPh);
        }
        result[q] = value;
      }
    }
  }
};

template <int D>
struct Product {
  static void run(const Line& line, const double* C, std::int64_t columns, const double* at,
                  std::int64_t queries, double* result, const Look& look) {
    Steps<D> steps(line), aside(line);
    std::vector<double> states(static_cast<std::size_t>(columns * D), 0.0);
    double P[D * D], h[D], Ph[D], moved[D];
    std::int64_t q = 0;
    for (; q < queries && (line.count == 0 || at[q] < line.times[0]); ++q) {
      std::fill(result + q * columns, result + (q + 1) * columns, 0.0);
    }
    for (std::int64_t i = 0; i < line.count && q < queries; ++i) {  // training points up to the query
      pause(i, look);
      const Step<D>* step = i == 0 ? nullptr : &steps.over(line.times[i] - line.times[i - 1]);
      steps.weights(line.times[i], h);
      steps.before(line.times[i], P);
      apply<D>(P, h, Ph);
      for (std::int64_t c = 0; c < columns; ++c) {
        double* x = states.data() + c * D;
        if (step != nullptr) {
          apply<D>(step->A, x, moved);
          std::copy(moved, moved + D, x);
        }
        for (int k = 0; k < D; ++k) x[k] += Ph[k] * C[i * columns + c];
      }
      for (; q < queries && (i + 1 == line.count || at[q] < line.times[i + 1]); ++q) {
        const Step<D>& there = aside.over(at[q] - line.times[i]);
        steps.weights(at[q], h);
        apply_transposed<D>(there.A, h, moved);
        for (std::int64_t c = 0; c < columns; ++c) {
          result[q * columns + c] = dot<D>(moved, states.data() + c * D);
        }
      }
    }
    std::fill(states.begin(), states.end(), 0.0);
    q = queries - 1;
    while (q >= 0 && line.count > 0 && at[q] >= line.times[line.count - 1]) --q;
    for (std::int64_t i = line.count - 1; i >= 0 && q >= 0; --i) {  // training points after the query
      pause(i, look);
      const Step<D>* step = i + 1 == line.count ? nullptr : &steps.over(line.times[i + 1] - line.times[i]);
      steps.weights(line.times[i], h);
      for (std::int64_t c = 0; c < columns; ++c) {
        double* r = states.data() + c * D;
        if (step != nullptr) {
          apply_transposed<D>(step->A, r, moved);
          std::copy(moved, moved + D, r);
        }
        for (int k = 0; k < D; ++k) r[k] += h[k] * C[i * columns + c];
      }
      for (; q >= 0 && (i == 0 || at[q] >= line.times[i - 1]); --q) {
        const Step<D>& there = aside.over(line.times[i] - at[q]);
        steps.weights(at[q], h);
        steps.before(at[q], P);
        apply<D>(P, h, Ph);
        apply<D>(there.A, Ph, moved);
        for (std::int64_t c = 0; c < columns; ++c) {
          result[q * columns + c] += dot<D>(moved, states.data() + c * D);
        }
      }
    }
  }
};

}  // namespace

int states_of(const Line& line) {
  int sum = 0;
  for (const Component& c : line.components) sum += states_of(c.kind);
  return sum;
}

std::int64_t kalman_filter(const Line& line, const double* noise, double* gains, double* variances,
                           const Look& look) {
  return with_states<Filter>(states_of(line), line, noise, gains, variances, look);
}

void kalman_innovations(const Line& line, const double* gains, const double* B, std::int64_t columns,
                        double* V, const Look& look) {
  with_states<Innovations>(states_of(line), line, gains, B, columns, V, look);
}

void kalman_solve(const Line& line, const double* gains, const double* variances, const double* B,
                  std::int64_t columns, double* U, const Look& look) {
  with_states<Solve>(states_of(line), line, gains, variances, B, columns, U, look);
}

void kalman_diagonal(const Line& line, const double* gains, const double* variances, double* diagonal,
                     const Look& look) {
  with_states<Diagonal>(states_of(line), line, gains, variances, diagonal, look);
}

void kalman_variances(const Line& line, const double* gains, const double* variances, const double* at,
                      std::int64_t queries, double* result, const Look& look) {
  with_states<Variances>(states_of(line), line, gains, variances, at, queries, result, look);
}

void kernel_product(const Line& line, const double* C, std::int64_t columns, const double* at,
                    std::int64_t queries, double* result, const Look& look) {
  with_states<Product>(states_of(line), line, C, columns, at, queries, result, look);
}

}  // namespace mercer
