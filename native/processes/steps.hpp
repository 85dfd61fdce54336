// Small matrices of a state space, and its steps from one time to the next.  D is the number of states, known
// to the compiler.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "state_space.hpp"

namespace mercer {

template <int D>
struct Step {
  double A[D * D];  // block diagonal, row by row
  double Q[D * D];
};

// Transitions of a line; that of the same time as before is not computed again.
template <int D>
class Steps {
 public:
  explicit Steps(const Line& line) : line_(line) {
    std::fill(step_.A, step_.A + D * D, 0.0);
    std::fill(step_.Q, step_.Q + D * D, 0.0);
  }

  const Step<D>& over(double dt) {
    prepare(dt, true);
    return step_;
  }

  // The transition A alone; the noise takes longer.
  const double* motion(double dt) {
    prepare(dt, false);
    return step_.A;
  }

  // The covariance before anything is seen.
  void before(double t, double* P) const {
    std::fill(P, P + D * D, 0.0);
    int start = 0;
    double block[9];
    for (const Component& c : line_.components) {
      prior(c, t, block);
      place(c, start, block, P);
      start += states_of(c.kind);
    }
  }

  // f = h' x at time t.
  void weights(double t, double* h) const {
    std::fill(h, h + D, 0.0);
    int start = 0;
    for (const Component& c : line_.components) {
      h[start] = weight_at(c.kind, t);
      start += states_of(c.kind);
    }
  }

  static void place(const Component& c, int start, const double* block, double* whole) {
    const int d = states_of(c.kind);
    for (int i = 0; i < d; ++i) {
      for (int j = 0; j < d; ++j) whole[(start + i) * D + start + j] = block[i * d + j];
    }
  }

 private:
  void prepare(double dt, bool noise) {
    if (dt == last_ && (has_noise_ || !noise)) return;
    last_ = dt, has_noise_ = noise;
    int start = 0;
    double A[9], Q[9];
    for (const Component& c : line_.components) {
      transition(c, dt, A, noise ? Q : nullptr);
      place(c, start, A, step_.A);
      if (noise) place(c, start, Q, step_.Q);
      start += states_of(c.kind);
    }
  }

  const Line& line_;
  bool has_noise_ = false;
  double last_ = std::numeric_limits<double>::quiet_NaN();
  Step<D> step_;
};

template <int D>
inline double dot(const double* a, const double* b) {
  double sum = 0.0;
  for (int i = 0; i < D; ++i) sum += a[i] * b[i];
  return sum;
}

// y = A x
template <int D>
inline void apply(const double* A, const double* x, double* y) {
  for (int i = 0; i < D; ++i) y[i] = dot<D>(A + i * D, x);
}

// y = A' x
template <int D>
inline void apply_transposed(const double* A, const double* x, double* y) {
  std::fill(y, y + D, 0.0);
  for (int i = 0; i < D; ++i) {
    for (int j = 0; j < D; ++j) y[j] += A[i * D + j] * x[i];
  }
}

// C = A B
template <int D>
inline void multiply(const double* A, const double* B, double* C) {
  for (int i = 0; i < D; ++i) {
    double row[D] = {};
    for (int k = 0; k < D; ++k) {
      for (int j = 0; j < D; ++j) row[j] += A[i * D + k] * B[k * D + j];
    }
    std::copy(row, row + D, C + i * D);
  }
}

// C = A B A' for a symmetric B.
template <int D>
inline void sandwich(const double* A, const double* B, double* C) {
  double AB[D * D];
  multiply<D>(A, B, AB);
  for (int i = 0; i < D; ++i) {
    for (int j = 0; j <= i; ++j) C[i * D + j] = C[j * D + i] = dot<D>(AB + i * D, A + j * D);
  }
}

// C = A' B A for a symmetric B.
template <int D>
inline void sandwich_transposed(const double* A, const double* B, double* C) {
  double BA[D * D];
  multiply<D>(B, A, BA);
  for (int i = 0; i < D; ++i) {
    for (int j = 0; j <= i; ++j) {
      double sum = 0.0;
      for (int k = 0; k < D; ++k) sum += A[k * D + i] * BA[k * D + j];
      C[i * D + j] = C[j * D + i] = sum;
    }
  }
}

// Run a function of the number of states, known to the compiler.
template <template <int> class F, int D = 1, class... Arguments>
auto with_states(int states, Arguments&&... arguments) {
  if constexpr (D == kMostStates) {
    return F<D>::run(std::forward<Arguments>(arguments)...);
  } else {
    if (states == D) return F<D>::run(std::forward<Arguments>(arguments)...);
    return with_states<F, D + 1>(states, std::forward<Arguments>(arguments)...);
  }
}

}  // namespace mercer
