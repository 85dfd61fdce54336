#include "components.hpp"

#include <algorithm>
#include <cmath>

namespace mercer {
namespace {

constexpr double kFactor[] = {2.0, 4.0,
                              16.0 / 3.0};  // of the white noise that drives a component of variance 1

// Moments m[k] = integral of u^k exp(-2 u) from 0 to z for k = 0 .. top.
//
// Up to x = 2 z = 3 the highest one is a series of positive terms, beyond that its closed form loses less
// than a digit; the others follow by m[k - 1] = (2 m[k] + z^k exp(-2 z)) / k, again a sum of positive terms.
void moments(double z, int top, double* m) {
  const double x = 2.0 * z, decay = std::exp(-x);
  double powers[6] = {1.0};
  for (int k = 0; k <= top; ++k) powers[k + 1] = powers[k] * z;
  if (x <= 3.0) {
    double term = 1.0 / (top + 1), sum = term;
    for (int j = 1; j < 64 && term > 1e-17 * sum; ++j) {
      term *= x / (top + 1 + j);
      sum += term;
    }
    m[top] = powers[top + 1] * decay * sum;
  } else {
    double factorial = 1.0, term = 1.0, sum = 1.0, scale = 0.5;
    for (int k = 1; k <= top; ++k) {
      factorial *= k;
      term *= x / k;
      sum += term;
      scale *= 0.5;
    }
    m[top] = factorial * scale * (1.0 - decay * sum);
  }
  for (int k = top; k > 0; --k) m[k - 1] = (2.0 * m[k] + powers[k] * decay) / k;
}

// The last column of A: the response to an impulse of the driving noise.
void response(Kind kind, double z, double* g) {
  const double e = std::exp(-z);
  if (kind == Kind::matern12) {
    g[0] = e;
  } else if (kind == Kind::matern32) {
    g[0] = z * e;
    g[1] = (1.0 - z) * e;
  } else {
    g[0] = 0.5 * z * z * e;
    g[1] = (z - 0.5 * z * z) * e;
    g[2] = (1.0 - 2.0 * z + 0.5 * z * z) * e;
  }
}

void matern_transition(Kind kind, double z, double* A) {
  const double e = std::exp(-z);
  if (kind == Kind::matern12) {
    A[0] = e;
  } else if (kind == Kind::matern32) {
    A[0] = (1.0 + z) * e, A[1] = z * e;
    A[2] = -z * e, A[3] = (1.0 - z) * e;
  } else {
    const double s = z * z, half = 0.5 * s;
    A[0] = (1.0 + z + half) * e, A[1] = (z + s) * e, A[2] = half * e;
    A[3] = -half * e, A[4] = (1.0 + z - s) * e, A[5] = (z - half) * e;
    A[6] = (half - z) * e, A[7] = (s - 3.0 * z) * e, A[8] = (1.0 - 2.0 * z + half) * e;
  }
}

void matern_noise(Kind kind, double z, double variance, double* Q) {
  const int d = states_of(kind);
  const double q = variance * kFactor[d - 1];
  double m[5];
  if (z <= 0.0) {
    std::fill(Q, Q + d * d, 0.0);
    return;
  }
  moments(z, 2 * (d - 1), m);
  if (d == 1) {
    Q[0] = q * m[0];
  } else if (d == 2) {
    Q[0] = q * m[2];
    Q[1] = Q[2] = q * (m[1] - m[2]);
    Q[3] = q * (m[0] - 2.0 * m[1] + m[2]);
  } else {
    const double quarter = 0.25 * m[4];
    Q[0] = q * quarter;
    Q[1] = Q[3] = q * (0.5 * m[3] - quarter);
    Q[2] = Q[6] = q * (0.5 * m[2] - m[3] + quarter);
    Q[4] = q * (m[2] - m[3] + quarter);
    Q[5] = Q[7] = q * (m[1] - 2.5 * m[2] + 1.5 * m[3] - quarter);
    Q[8] = q * (m[0] - 4.0 * m[1] + 5.0 * m[2] - 2.0 * m[3] + quarter);
  }
}

bool is_matern(Kind kind) {
  return kind == Kind::matern12 || kind == Kind::matern32 || kind == Kind::matern52;
}

// Beyond this distance, in units of the width, nothing of a Matern component is left, and exp(-z) z^2 is 0.
constexpr double kFar = 800.0;

double scaled(const Component& c, double dt) { return std::min(c.rate * dt, kFar); }

}  // namespace

void prior(const Component& c, double t, double* P) {
  switch (c.kind) {
    case Kind::matern32:
      P[0] = P[3] = c.variance, P[1] = P[2] = 0.0;
      return;
    case Kind::matern52: {
      const double third = c.variance / 3.0;
      P[0] = P[8] = c.variance, P[4] = third, P[2] = P[6] = -third;
      P[1] = P[3] = P[5] = P[7] = 0.0;
      return;
    }
    case Kind::brownian:
      P[0] = c.variance * t;
      return;
    default:
      P[0] = c.variance;
  }
}

void transition(const Component& c, double dt, double* A, double* Q) {
  if (is_matern(c.kind)) {
    const double z = scaled(c, dt);
    matern_transition(c.kind, z, A);
    if (Q != nullptr) matern_noise(c.kind, z, c.variance, Q);
    return;
  }
  A[0] = 1.0;
  if (Q != nullptr) Q[0] = c.kind == Kind::brownian ? c.variance * dt : 0.0;
}

void rate_slopes(const Component& c, double dt, const double* A, double* dA, double* dQ) {
  const int d = states_of(c.kind);
  std::fill(dA, dA + d * d, 0.0);
  std::fill(dQ, dQ + d * d, 0.0);
  if (!is_matern(c.kind)) return;
  const double z = scaled(c, dt), q = c.variance * kFactor[d - 1];
  double g[3];
  response(c.kind, z, g);
  for (int i = 0; i < d; ++i) {
    for (int j = 0; j < d; ++j) dQ[i * d + j] = z * q * g[i] * g[j];
  }
  for (int j = 0; j < d; ++j) {  // z F A, where F has the binomial coefficients of -(1 + D)^d in its last row
    for (int i = 0; i + 1 < d; ++i) dA[i * d + j] = z * A[(i + 1) * d + j];
    const double* a = A + j;
    dA[(d - 1) * d + j] = d == 1   ? -z * a[0]
                          : d == 2 ? -z * (a[0] + 2.0 * a[2])
                                   : -z * (a[0] + 3.0 * a[3] + 3.0 * a[6]);
  }
}

}  // namespace mercer
