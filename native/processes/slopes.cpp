// The likelihood of a process on the line with its derivatives: the Kalman filter, differentiated step by
// step.
#include "steps.hpp"

namespace mercer {
namespace {

constexpr std::int64_t kLook = 1 << 13;

// One parameter: the derivatives of the covariance P and of the states x.
template <int D>
struct Tangent {
  int component;  // -1 for the noise
  bool is_rate;
  int start;  // of the component among the states
  double P[D * D];
  std::vector<double> x;
};

template <int D>
std::vector<Tangent<D>> tangents_of(const Line& line, std::int64_t columns) {
  std::vector<Tangent<D>> result;
  int start = 0;
  for (std::size_t j = 0; j < line.components.size(); ++j) {
    for (const bool is_rate : {false, true}) {
      Tangent<D> t{static_cast<int>(j), is_rate, start, {}, std::vector<double>(columns * D, 0.0)};
      if (!is_rate) {
        double block[9];
        prior(line.components[j], line.times[0], block);
        Steps<D>::place(line.components[j], start, block, t.P);
      }
      result.push_back(std::move(t));
    }
    start += states_of(line.components[j].kind);
  }
  result.push_back(Tangent<D>{-1, false, 0, {}, std::vector<double>(columns * D, 0.0)});
  return result;
}

// Derivatives of the prediction from P and x, which are still those of the time before.
template <int D>
void predict(const Line& line, double dt, const Step<D>& step, const double* P, const double* x,
             std::int64_t columns, Tangent<D>& t) {
  double moved[D];
  sandwich<D>(step.A, t.P, t.P);
  for (std::int64_t c = 0; c < columns; ++c) {
    double* dx = t.x.data() + c * D;
    apply<D>(step.A, dx, moved);
    std::copy(moved, moved + D, dx);
  }
  if (t.component < 0) return;
  const Component& component = line.components[t.component];
  const int d = states_of(component.kind);
  if (!t.is_rate) {  // Q is a multiple of the variance
    for (int i = t.start; i < t.start + d; ++i) {
      for (int j = t.start; j < t.start + d; ++j) t.P[i * D + j] += step.Q[i * D + j];
    }
    return;
  }
  double A[9], dA[9], dQ[9], slope[D * D] = {}, noise[D * D] = {}, product[D * D];
  for (int i = 0; i < d; ++i) {
    for (int j = 0; j < d; ++j) A[i * d + j] = step.A[(t.start + i) * D + t.start + j];
  }
  rate_slopes(component, dt, A, dA, dQ);
  Steps<D>::place(component, t.start, dA, slope);
  Steps<D>::place(component, t.start, dQ, noise);
  multiply<D>(slope, P, product);  // dA P A' and its transpose
  for (int i = 0; i < D; ++i) {
    for (int j = 0; j < D; ++j) {
      const double value = dot<D>(product + i * D, step.A + j * D);
      t.P[i * D + j] += value + noise[i * D + j];
      t.P[j * D + i] += value;
    }
  }
  for (std::int64_t c = 0; c < columns; ++c) {
    apply<D>(slope, x + c * D, moved);
    for (int k = 0; k < D; ++k) t.x[c * D + k] += moved[k];
  }
}

template <int D>
struct Slopes {
  static std::int64_t run(const Line& line, const double* noise, const double* Y, std::int64_t columns,
                          double* products, double* slopes, double* determinants, const Look& look) {
    Steps<D> steps(line);
    double P[D * D], h[D], g[D], K[D], dg[D], dK[D], moved[D];
    std::vector<double> states(static_cast<std::size_t>(columns * D), 0.0), v(columns), dv(columns);
    const std::int64_t square = columns * columns;
    std::fill(products, products + square, 0.0);
    if (line.count == 0) return 0;
    steps.before(line.times[0], P);
    auto tangents = tangents_of<D>(line, columns);
    std::fill(slopes, slopes + square * static_cast<std::int64_t>(tangents.size()), 0.0);
    std::fill(determinants, determinants + tangents.size(), 0.0);
    for (std::int64_t i = 0; i < line.count; ++i) {
      if (i % kLook == 0) look();
      if (i > 0) {
        const double dt = line.times[i] - line.times[i - 1];
        const Step<D>& step = steps.over(dt);
        for (auto& t : tangents) predict<D>(line, dt, step, P, states.data(), columns, t);
        sandwich<D>(step.A, P, P);
        for (int k = 0; k < D * D; ++k) P[k] += step.Q[k];
        for (std::int64_t c = 0; c < columns; ++c) {
          apply<D>(step.A, states.data() + c * D, moved);
          std::copy(moved, moved + D, states.data() + c * D);
        }
      }
      steps.weights(line.times[i], h);
      apply<D>(P, h, g);
      const double S = dot<D>(h, g) + noise[i];
      if (!(S > 0.0)) return i;
      for (int k = 0; k < D; ++k) K[k] = g[k] / S;
      for (std::int64_t c = 0; c < columns; ++c) {
        v[c] = Y[i * columns + c] - dot<D>(h, states.data() + c * D);
      }
      for (std::int64_t a = 0; a < columns; ++a) {
        for (std::int64_t b = 0; b < columns; ++b) products[a * columns + b] += v[a] * v[b] / S;
      }
      for (std::size_t p = 0; p < tangents.size(); ++p) {
        Tangent<D>& t = tangents[p];
        apply<D>(t.P, h, dg);
        const double dS = dot<D>(h, dg) + (t.component < 0 ? 1.0 : 0.0);
        determinants[p] += dS / S;
        for (int k = 0; k < D; ++k) dK[k] = (dg[k] - K[k] * dS) / S;
        for (std::int64_t c = 0; c < columns; ++c) dv[c] = -dot<D>(h, t.x.data() + c * D);
        double* sums = slopes + static_cast<std::int64_t>(p) * square;
        for (std::int64_t a = 0; a < columns; ++a) {
          for (std::int64_t b = 0; b < columns; ++b) {
            sums[a * columns + b] += (dv[a] * v[b] + v[a] * dv[b] - v[a] * v[b] * (dS / S)) / S;
          }
        }
        for (std::int64_t c = 0; c < columns; ++c) {
          for (int k = 0; k < D; ++k) t.x[c * D + k] += dK[k] * v[c] + K[k] * dv[c];
        }
        for (int k = 0; k < D; ++k) {
          for (int j = 0; j < D; ++j) t.P[k * D + j] -= dK[k] * g[j] + K[k] * dg[j];
        }
      }
      for (std::int64_t c = 0; c < columns; ++c) {
        for (int k = 0; k < D; ++k) states[c * D + k] += K[k] * v[c];
      }
      for (int k = 0; k < D; ++k) {
        for (int j = 0; j < D; ++j) P[k * D + j] -= g[k] * K[j];
      }
    }
    return line.count;
  }
};

}  // namespace

std::int64_t kalman_slopes(const Line& line, const double* noise, const double* Y, std::int64_t columns,
                           double* products, double* slopes, double* determinants, const Look& look) {
  return with_states<Slopes>(states_of(line), line, noise, Y, columns, products, slopes, determinants, look);
}

}  // namespace mercer
