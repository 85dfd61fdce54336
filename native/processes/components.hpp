// Gaussian processes on the line that are solutions of linear stochastic differential equations.
//
// The process is f = sum over components of h(t) x_0(t), where x is the state of a component:
//   x(t + dt) = A x(t) + noise of covariance Q,   A = exp(F dt)
// A component of rate r is scaled so that F, and the stationary covariance P, do not depend on r: its states
// are the derivatives of f of order i, divided by r^i, and dt is replaced by z = r dt.
#pragma once

#include <cstdint>

namespace mercer {

enum class Kind : std::int64_t {
  matern12 = 0,  // exp(-z)
  matern32 = 1,  // (1 + z) exp(-z)
  matern52 = 2,  // (1 + z + z^2 / 3) exp(-z)
  brownian = 3,  // min(s, t), s and t >= 0
  constant = 4,  // 1
  linear = 5,    // s t
};

struct Component {
  Kind kind;
  double variance;  // factor of the covariance
  double rate;      // of the Matern components; 0 for the others
};

inline int states_of(Kind kind) { return kind == Kind::matern52 ? 3 : kind == Kind::matern32 ? 2 : 1; }

// What f is a multiple of the first state at time t.
inline double weight_at(Kind kind, double t) { return kind == Kind::linear ? t : 1.0; }

// Covariance of the state at time t before anything is seen, row by row.
void prior(const Component& c, double t, double* P);

// Transition A and covariance Q of the noise over a time dt >= 0, row by row.  Q may be null: then A alone.
void transition(const Component& c, double dt, double* A, double* Q);

// Derivatives of A and Q in log(rate), from A.
void rate_slopes(const Component& c, double dt, const double* A, double* dA, double* dQ);

}  // namespace mercer
