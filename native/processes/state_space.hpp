// Exact inference for Gaussian processes on the line, in time proportional to the number of observations: the
// Kalman filter and the backward recursion of Bryson and Frazier.
//
// Observations y(i) = f(t(i)) + noise at sorted times; M is their covariance matrix.  The filter computes
//   gains K(i) = P h / S(i),  variances S(i) = h' P h + noise(i)
// from the covariance P of the state given what is before i, and log det M = sum of log S(i).
#pragma once

#include <cstdint>
#include <vector>

#include "../sequences/watched.hpp"
#include "components.hpp"

namespace mercer {

struct Line {
  std::vector<Component> components;
  const double* times;  // ascending
  std::int64_t count;
};

// States of all components together.
int states_of(const Line& line);

// Most states that are supported.
constexpr int kMostStates = 12;

// gains: count x states, variances: count.  Returns count, or the first i at which S(i) is not positive to
// working precision.
std::int64_t kalman_filter(const Line& line, const double* noise, double* gains, double* variances,
                           const Look& look);

// Innovations V of B, both of shape count x columns: B' M^-1 B is the sum of V(i)' V(i) / S(i).
void kalman_innovations(const Line& line, const double* gains, const double* B, std::int64_t columns,
                        double* V, const Look& look);

// U = M^-1 B for B and U of shape count x columns.
void kalman_solve(const Line& line, const double* gains, const double* variances, const double* B,
                  std::int64_t columns, double* U, const Look& look);

// The diagonal of M^-1.
void kalman_diagonal(const Line& line, const double* gains, const double* variances, double* diagonal,
                     const Look& look);

// Variances of f at sorted times, given the observations.
void kalman_variances(const Line& line, const double* gains, const double* variances, const double* at,
                      std::int64_t queries, double* result, const Look& look);

// Rows of the kernel matrix of sorted times with those of the line, times C of shape count x columns.
void kernel_product(const Line& line, const double* C, std::int64_t columns, const double* at,
                    std::int64_t queries, double* result, const Look& look);

// Derivatives in one logarithm for each component (its variance, then its rate), and in a variance that is
// added to all noise: 2 components + 1 of them.
//   products: columns x columns, Y' M^-1 Y;  slopes: their derivatives, one such matrix for each
//   determinants: derivatives of log det M
// Returns what kalman_filter returns.
std::int64_t kalman_slopes(const Line& line, const double* noise, const double* Y, std::int64_t columns,
                           double* products, double* slopes, double* determinants, const Look& look);

}  // namespace mercer
