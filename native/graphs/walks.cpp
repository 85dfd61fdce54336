#include "walks.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace mercer {
namespace {

using Vector = std::vector<double>;

constexpr double kEps = 2.220446049250313e-16;

// Backward error at which a system counts as solved, in units of rounding: a row sums a few products.
constexpr double kTolerance = 64 * kEps;

// Iterations between two computations of the true residual, and such rounds.
constexpr Index kSteps = 100, kRounds = 30;

// Terms of the exponential series at norms up to 1: 1 / 19! is below rounding.
constexpr Index kTerms = 18;

double dot(const Vector& a, const Vector& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double largest(const Vector& a) {
  double most = 0.0;
  for (double v : a) most = std::max(most, std::abs(v));
  return most;
}

// The matrix W N of a product graph, on the pairs of nodes with similarity other than 0, in compressed rows.
struct Product {
  std::vector<Index> numbers, starts;
  std::vector<std::int32_t> columns;
  Vector values, similarities, right, left;
  double norm = 0.0;  // largest sum of absolute values of a row
  bool negative = false;

  void build(const WalkGraphs& X, Index i, const WalkGraphs& Y, Index j, const Similarities& nodes,
             const Similarities& arcs) {
    const GraphBatch &x = X.batch, &y = Y.batch;
    const Index x0 = x.node_starts[i], n = x.size(i), y0 = y.node_starts[j], m = y.size(j);
    numbers.assign(static_cast<std::size_t>(n * m), -1);
    similarities.clear(), right.clear(), left.clear();
    negative = false;
    for (Index u = 0; u < n; ++u)
      for (Index v = 0; v < m; ++v) {
        const double s = nodes(X.node_codes[x0 + u], Y.node_codes[y0 + v]);
        if (s == 0.0) continue;
        numbers[static_cast<std::size_t>(u * m + v)] = static_cast<Index>(similarities.size());
        similarities.push_back(s);
        left.push_back(s * X.starts[x0 + u] * Y.starts[y0 + v]);
        right.push_back(X.stops[x0 + u] * Y.stops[y0 + v]);
        negative |= s < 0.0;
      }
    starts.assign(1, 0), columns.clear(), values.clear();
    for (Index u = 0; u < n; ++u)
      for (Index v = 0; v < m; ++v) {
        if (numbers[static_cast<std::size_t>(u * m + v)] < 0) continue;
        for (Index a = x.arc_starts[x0 + u]; a < x.arc_starts[x0 + u + 1]; ++a)
          for (Index b = y.arc_starts[y0 + v]; b < y.arc_starts[y0 + v + 1]; ++b) {
            const Index q = numbers[static_cast<std::size_t>(x.targets[a] * m + y.targets[b])];
            if (q < 0) continue;
            const double w = X.weights[a] * Y.weights[b] * arcs(X.arc_codes[a], Y.arc_codes[b]);
            if (w == 0.0) continue;
            columns.push_back(static_cast<std::int32_t>(q));
            values.push_back(w * similarities[static_cast<std::size_t>(q)]);
            negative |= w < 0.0;
          }
        starts.push_back(static_cast<Index>(columns.size()));
      }
    norm = 0.0;
    for (std::size_t p = 0; p < right.size(); ++p) {
      double sum = 0.0;
      for (Index k = starts[p]; k < starts[p + 1]; ++k) sum += std::abs(values[static_cast<std::size_t>(k)]);
      norm = std::max(norm, sum);
    }
  }

  std::size_t size() const { return right.size(); }

  void make_absolute() {
    for (double& v : values) v = std::abs(v);
  }

  // out = base + factor W N z.
  void step(const Vector& base, double factor, const Vector& z, Vector& out) const {
    for (std::size_t p = 0; p < base.size(); ++p) {
      double sum = 0.0;
      for (Index k = starts[p]; k < starts[p + 1]; ++k)
        sum += values[static_cast<std::size_t>(k)] *
               z[static_cast<std::size_t>(columns[static_cast<std::size_t>(k)])];
      out[p] = base[p] + factor * sum;
    }
  }
};

// (I - factor W N) z = right by the stabilised bi-conjugate gradient method (van der Vorst 1992), begun anew
// from the true residual until that is a matter of rounding.
struct Solver {
  Vector z, residual, shadow, p, v, s, t;

  bool solve(const Product& A, double factor, Watch& watch) {
    const std::size_t n = A.size();
    for (Vector* w : {&z, &residual, &shadow, &p, &v, &s, &t}) w->assign(n, 0.0);
    for (Index round = 0; round < kRounds; ++round) {
      refine(A, factor, watch);
      const double reached = true_residual(A, factor);
      if (!std::isfinite(reached)) return false;
      const double scale = largest(A.right) + (1.0 + std::abs(factor) * A.norm) * largest(z);
      if (reached <= kTolerance * scale) return true;
    }
    return false;
  }

  // Whether the solution proves that the series converges, for a matrix without negative numbers: z > 0 with
  // factor W N z < z bounds the spectral radius of factor W N below 1 (Collatz and Wielandt).
  bool is_proof(const Product& A) const {
    for (std::size_t i = 0; i < A.size(); ++i)
      if (!(z[i] > 0.0 && residual[i] < A.right[i])) return false;
    return true;
  }

 private:
  double true_residual(const Product& A, double factor) {
    A.step(A.right, factor, z, residual);
    for (std::size_t i = 0; i < z.size(); ++i) residual[i] -= z[i];
    return largest(residual);
  }

  // A fixed-point step, then a round of iterations.
  void refine(const Product& A, double factor, Watch& watch) {
    const std::size_t n = A.size();
    A.step(A.right, factor, z, t);
    z.swap(t);
    const double reached = true_residual(A, factor);
    if (reached == 0.0) return;
    shadow = p = residual;
    double rho = dot(shadow, residual);
    const double enough = rho * kEps * kEps;
    for (Index step = 0; step < kSteps; ++step) {
      watch.pause();
      A.step(p, -factor, p, v);  // v = (I - factor W N) p
      const double along = dot(shadow, v);
      if (along == 0.0) return;
      const double alpha = rho / along;
      for (std::size_t i = 0; i < n; ++i) s[i] = residual[i] - alpha * v[i];
      A.step(s, -factor, s, t);
      const double length = dot(t, t);
      const double omega = length == 0.0 ? 0.0 : dot(t, s) / length;
      for (std::size_t i = 0; i < n; ++i) {
        z[i] += alpha * p[i] + omega * s[i];
        residual[i] = s[i] - omega * t[i];
      }
      const double next = dot(shadow, residual), size = dot(residual, residual);
      if (!(size > enough) || omega == 0.0 || next == 0.0) return;
      const double beta = next / rho * (alpha / omega);
      for (std::size_t i = 0; i < n; ++i) p[i] = residual[i] + beta * (p[i] - omega * v[i]);
      rho = next;
    }
  }
};

struct WalkScratch {
  Product product;
  Solver solver;
};

// right + r_1 A (right + r_2 A (right + ...)), into z.
void horner(const Product& A, const Vector& right, const double* ratios, Index count, double divisor,
            Vector& z, Vector& buffer, Watch& watch) {
  z = right;
  buffer.resize(z.size());
  for (Index l = count - 1; l >= 0; --l) {
    watch.pause();
    A.step(right, ratios[l] / divisor, z, buffer);
    z.swap(buffer);
  }
}

WalkStatus walk_series(const WalkRule& rule, WalkScratch& scratch, Watch& watch) {
  Product& A = scratch.product;
  Solver& solver = scratch.solver;
  if (rule.series == kSolve) {
    const double factor = rule.ratios[0];
    if (!solver.solve(A, factor, watch)) return kNotConverged;
    if (factor >= 0.0 && !A.negative) return solver.is_proof(A) ? kConverges : kNotConverged;
    const Vector kept = solver.z;  // absolute values bound the signed series
    A.make_absolute();
    const bool proved = solver.solve(A, std::abs(factor), watch) && solver.is_proof(A);
    solver.z = kept;
    return proved ? kConverges : kUnproved;
  }
  if (rule.series == kTruncate) {
    horner(A, A.right, rule.ratios, rule.count, 1.0, solver.z, solver.t, watch);
    return kConverges;
  }
  // exp(A) = exp(A / steps)^steps, each factor of a matrix of norm at most 1.
  const double steps = std::max(1.0, std::ceil(std::abs(rule.ratios[0]) * A.norm));
  double ratios[kTerms];
  for (Index l = 0; l < kTerms; ++l) ratios[l] = rule.ratios[0] / static_cast<double>(l + 1);
  Vector right = A.right;
  for (double k = 0.0; k < steps && std::isfinite(steps); ++k) {
    horner(A, right, ratios, kTerms, steps, solver.z, solver.t, watch);
    right = solver.z;
    if (!std::isfinite(largest(right))) break;
  }
  return kConverges;
}

}  // namespace

void walk_sums(const WalkGraphs& X, const WalkGraphs& Y, const Similarities& nodes, const Similarities& arcs,
               const WalkRule& rule, const Index* rows, const Index* cols, Index count, double* out,
               std::int32_t* status, int threads, const Look& look) {
  watched_loop<WalkScratch>(count, threads, look, [&](Index k, Watch& watch, WalkScratch& scratch) {
    watch.pause();
    scratch.product.build(X, rows[k], Y, cols[k], nodes, arcs);
    status[k] = walk_series(rule, scratch, watch);
    out[k] = dot(scratch.product.left, scratch.solver.z);
  });
}

void spectral_walk_sums(const Spectra& X, const Spectra& Y, const WalkRule& rule, const Index* rows,
                        const Index* cols, Index count, double* out, int threads, const Look& look) {
  const double decay = rule.count > 0 ? rule.ratios[0] : 0.0;
  watched_loop<Vector>(count, threads, look, [&](Index k, Watch& watch, Vector& sums) {
    watch.pause();
    const Index n = X.starts[rows[k] + 1] - X.starts[rows[k]], m = Y.starts[cols[k] + 1] - Y.starts[cols[k]];
    const double *x = X.values + X.starts[rows[k]], *y = Y.values + Y.starts[cols[k]];
    const double *a = X.weights + X.starts[rows[k]], *b = Y.weights + Y.starts[cols[k]];
    sums.assign(static_cast<std::size_t>(m), 0.0);
    double* to = sums.data();
    for (Index i = 0; i < n; ++i) {
      const double factor = decay * x[i], weight = a[i];
      if (rule.series == kSolve) {
        for (Index j = 0; j < m; ++j) to[j] += weight / (1.0 - factor * y[j]);
      } else if (rule.series == kExponential) {
        for (Index j = 0; j < m; ++j) to[j] += weight * std::exp(factor * y[j]);
      } else {
        for (Index j = 0; j < m; ++j) {
          double value = 1.0;
          for (Index l = rule.count - 1; l >= 0; --l) value = 1.0 + rule.ratios[l] * x[i] * y[j] * value;
          to[j] += weight * value;
        }
      }
    }
    double total = 0.0;
    for (Index j = 0; j < m; ++j) total += to[j] * b[j];
    out[k] = total;
  });
}

}  // namespace mercer
