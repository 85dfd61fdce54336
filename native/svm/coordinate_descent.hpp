// Dual coordinate descent (Hsieh et al. 2008) for the problem of native/svm/optimality.hpp, where K = X X'
// for rows x_i of known features.
//
// One variable at a time goes to the minimum of the objective along its axis; w = X' beta is kept, so that a
// step costs the entries of one row.  An epoch visits the variables in random order.  Variables at a bound
// that press against it harder than any other violates its condition are left out (shrinking) until the
// others have converged.
//
// A given sum of zero is met by the method of multipliers: rho / 2 (sum beta)^2 + mu sum beta is added to
// the objective, as a further feature of the value sqrt(rho) would, and mu goes to mu + rho sum beta whenever
// the variables have converged.  w x + mu + rho sum beta is the decision function, the bias included.
#pragma once

#include <cstdint>
#include <functional>

#include "optimality.hpp"
#include "smo.hpp"

namespace mercer {

template <class T>
struct SparseRows {
  const std::int64_t* starts;
  const std::int32_t* columns;
  const T* values;

  double dot(Index i, const double* w) const {
    double sum = 0.0;
    for (std::int64_t k = starts[i]; k < starts[i + 1]; ++k)
      sum += w[columns[k]] * static_cast<double>(values[k]);
    return sum;
  }
  void add(Index i, double factor, double* w) const {
    for (std::int64_t k = starts[i]; k < starts[i + 1]; ++k)
      w[columns[k]] += factor * static_cast<double>(values[k]);
  }
  double square(Index i) const {
    double sum = 0.0;
    for (std::int64_t k = starts[i]; k < starts[i + 1]; ++k) {
      auto v = static_cast<double>(values[k]);
      sum += v * v;
    }
    return sum;
  }
};

template <class T>
struct DenseRows {
  const T* values;
  Index width;

  // Four sums: one alone would wait for each addition.
  double dot(Index i, const double* w) const {
    const T* x = values + i * width;
    double sum[4] = {};
    Index k = 0;
    for (; k + 4 <= width; k += 4)
      for (Index j = 0; j < 4; ++j) sum[j] += w[k + j] * static_cast<double>(x[k + j]);
    for (; k < width; ++k) sum[0] += w[k] * static_cast<double>(x[k]);
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }
  void add(Index i, double factor, double* w) const {
    const T* x = values + i * width;
    for (Index k = 0; k < width; ++k) w[k] += factor * static_cast<double>(x[k]);
  }
  double square(Index i) const {
    const T* x = values + i * width;
    double sum = 0.0;
    for (Index k = 0; k < width; ++k) sum += static_cast<double>(x[k]) * static_cast<double>(x[k]);
    return sum;
  }
};

struct Descent {
  Ending ending;
  Index visits;       // of one variable
  double multiplier;  // mu
};

// Moves beta and w = X' beta on, until no variable violates its condition by more than `tolerance` and what
// the sum lacks cannot matter more than that, or for `visits` visits of a variable.  p.diagonal is not read.
// The same seed visits in the same order.
template <class Rows>
Descent coordinate_descent(const QuadraticProblem& p, const Rows& X, double* beta, double* w,
                           double multiplier, double tolerance, Index visits, std::uint64_t seed,
                           const std::function<bool(Index visits, double violation)>& watch);

}  // namespace mercer
