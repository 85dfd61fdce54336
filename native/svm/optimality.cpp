#include "optimality.hpp"

#include <algorithm>
#include <cmath>

namespace mercer {

double violation_of(const QuadraticProblem& p, const Extremes* e) {
  if (p.constraint == kFree) return std::max({e->high, -e->low, 0.0});
  double most = 0.0;
  for (int g = 0; g < p.groups(); ++g) most = std::max(most, e[g].high - e[g].low);
  return most;
}

double objective_of(const QuadraticProblem& p, const double* beta, const double* grad) {
  double sum = 0.0;
  for (Index i = 0; i < p.n; ++i)
    sum += beta[i] * 0.5 * (grad[i] + p.linear[i]) + p.epsilon * std::abs(beta[i]);
  return sum;
}

Optimality optimality(const QuadraticProblem& p, const double* beta, const double* grad) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Extremes e[2] = {{-infinity, infinity, -1, -1}, {-infinity, infinity, -1, -1}};
  double sum[2] = {};  // over variables between their bounds
  Index count[2] = {};
  for (Index i = 0; i < p.n; ++i) {
    double up[2], down[2];
    set_rates(p, beta[i], p.low[i], p.high[i], up, down, 1);
    for (int g = 0; g < p.groups(); ++g) {
      e[g].high = std::max(e[g].high, up[g] - grad[i]);
      e[g].low = std::min(e[g].low, down[g] - grad[i]);
      if (up[g] == down[g]) sum[g] += up[g] - grad[i], ++count[g];
    }
  }
  Optimality result{violation_of(p, e), {0.0, 0.0}, objective_of(p, beta, grad), 0.0};
  for (int g = 0; g < p.groups() && p.constraint != kFree; ++g) {
    bool above = std::isfinite(e[g].low), below = std::isfinite(e[g].high);
    result.multiplier[g] = count[g] > 0     ? sum[g] / static_cast<double>(count[g])
                           : above && below ? (e[g].high + e[g].low) / 2
                           : above          ? e[g].low
                           : below          ? e[g].high
                                            : 0.0;
  }
  double first = result.multiplier[0], second = p.groups() == 2 ? result.multiplier[1] : first;
  for (Index i = 0; i < p.n; ++i) {
    double positive = grad[i] + first + p.epsilon, negative = grad[i] + second - p.epsilon;
    double least =
        std::min(positive < 0.0 ? positive * p.high[i] : 0.0, negative > 0.0 ? negative * p.low[i] : 0.0);
    double here = beta[i] == 0.0 ? 0.0 : (beta[i] > 0.0 ? positive : negative) * beta[i];
    result.gap += std::max(here - least, 0.0);
  }
  return result;
}

}  // namespace mercer
