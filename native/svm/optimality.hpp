// The quadratic problem of support vector machines, and how far a point is from its solution.
//
//   minimise   1/2 beta' K beta + linear' beta + epsilon |beta|_1     over beta in R^n
//   subject to low_i <= beta_i <= high_i                  low_i <= 0 <= high_i, either may be infinite
//   and        kSum     sum_i beta_i is given
//              kSigned  the sums of the positive and of the negative beta_i are given, each by itself
//              kFree    nothing more
//
// For a classifier beta_i = y_i alpha_i in the notation of LIBSVM, for a regression alpha_i - alpha*_i.  With
// grad = K beta + linear, the objective falls at the rate up_i when beta_i grows and at -down_i when it
// shrinks,
//
//   up_i   = -grad_i - epsilon sign(beta_i + 0)     down_i = -grad_i - epsilon sign(beta_i - 0)
//
// and beta is optimal iff max up <= min down over the variables that may grow and shrink (for kFree: iff
// max up <= 0 <= min down).  The violation is the difference.  For kSigned there are two groups, the positive
// and the negative variables, each with a multiplier of its own.
#pragma once

#include <limits>

#include "table.hpp"

namespace mercer {

enum Constraint : int { kSum, kSigned, kFree };

struct QuadraticProblem {
  Index n;
  const double *linear, *low, *high;
  const double* diagonal;  // of K
  double epsilon;
  Constraint constraint;

  int groups() const { return constraint == kSigned ? 2 : 1; }
};

struct Optimality {
  double violation, multiplier[2], objective, gap;
};

// up_i + grad_i and down_i + grad_i of one variable in each group, infinite where it may not move.  Numbers
// of the second group are `stride` behind those of the first.
template <class S>
void set_rates(const QuadraticProblem& p, double beta, double low, double high, S* up, S* down,
               Index stride) {
  constexpr S infinity = std::numeric_limits<S>::infinity();
  bool grows = beta<high, shrinks = beta> low;
  if (p.constraint != kSigned) {
    up[0] = grows ? static_cast<S>(beta >= 0.0 ? -p.epsilon : p.epsilon) : -infinity;
    down[0] = shrinks ? static_cast<S>(beta > 0.0 ? -p.epsilon : p.epsilon) : infinity;
    return;
  }
  up[0] = grows && beta >= 0.0 ? S(0) : -infinity;
  down[0] = beta > 0.0 ? S(0) : infinity;
  up[stride] = beta < 0.0 ? S(0) : -infinity;
  down[stride] = shrinks && beta <= 0.0 ? S(0) : infinity;
}

// Of the largest up and the smallest down of each group.
double violation_of(const QuadraticProblem& p, const Extremes* e);

double objective_of(const QuadraticProblem& p, const double* beta, const double* grad);

// Multipliers are the means over the variables between their bounds, else the middle of what is possible. The
// gap is by how much the linear model at beta can fall within the box, with the constraints priced in: at
// least the objective less its minimum.
Optimality optimality(const QuadraticProblem& p, const double* beta, const double* grad);

}  // namespace mercer
