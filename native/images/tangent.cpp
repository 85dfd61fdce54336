#include "tangent.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace mercer {
namespace {

using Index = std::int64_t;

// Squared sine of the angle between a vector and a plane below which the vector counts as lying in it: with
// sines above 1e-6, the digits of doubles leave ten to the projection.
constexpr double kParallel = 1e-12;

// Squared sine, and distance of the planes as part of that of the images, below which products of rows have
// lost four digits; such pairs, copies of one image among them, are computed from the rows.
constexpr double kNear = 1e-4;

double dot(const double* a, const double* b, Index n) {
  double sum = 0;
  for (Index i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

void subtract(double factor, const double* a, double* from, Index n) {
  for (Index i = 0; i < n; ++i) from[i] -= factor * a[i];
}

// Orthonormal vectors, one after the other.
class Basis {
 public:
  explicit Basis(Index pixels) : pixels_(pixels) {}

  void clear() { vectors_.clear(); }

  void remove_from(double* v) const {
    for (const double* q = vectors_.data(); q != vectors_.data() + vectors_.size(); q += pixels_)
      subtract(dot(q, v, pixels_), q, v, pixels_);
  }

  // Adds a unit vector, or nothing for zeros.
  void add_unit(const double* v) {
    if (dot(v, v, pixels_) > 0.5) vectors_.insert(vectors_.end(), v, v + pixels_);
  }

  // Adds what makes `count` vectors dependent on the basis: always the one that is farthest from it, in
  // units of its length.  The vectors are overwritten by those added, in their places, and by zeros.
  void extend(double* vectors, Index count) {
    std::vector<double> lengths(count);
    std::vector<bool> open(count, true);
    for (Index k = 0; k < count; ++k) {
      double* v = vectors + k * pixels_;
      lengths[k] = dot(v, v, pixels_);
      remove_from(v);
    }
    for (Index step = 0; step < count; ++step) {
      Index best = -1;
      double share = kParallel;
      for (Index k = 0; k < count; ++k) {
        const double* v = vectors + k * pixels_;
        double rest = dot(v, v, pixels_);
        if (open[k] && rest > share * lengths[k]) best = k, share = rest / lengths[k];
      }
      if (best < 0) break;
      open[best] = false;
      double* v = vectors + best * pixels_;
      remove_from(v);  // again: the first time leaves rounding errors in the basis
      double scale = 1 / std::sqrt(dot(v, v, pixels_));
      for (Index i = 0; i < pixels_; ++i) v[i] *= scale;
      for (Index k = 0; k < count; ++k)
        if (open[k]) subtract(dot(v, vectors + k * pixels_, pixels_), v, vectors + k * pixels_, pixels_);
      vectors_.insert(vectors_.end(), v, v + pixels_);
    }
    for (Index k = 0; k < count; ++k)
      if (open[k]) std::fill(vectors + k * pixels_, vectors + (k + 1) * pixels_, 0.0);
  }

 private:
  Index pixels_;
  std::vector<double> vectors_;
};

// The definition: what is left of x - y outside of the span of all tangents.
double from_rows(const Planes& X, Index i, const Planes& Y, Index j) {
  const Index d = X.pixels, step = (X.tangents + 1) * d;
  const double *x = X.rows + i * step, *y = Y.rows + j * step;
  Basis basis(d);
  for (Index k = 1; k <= X.tangents; ++k) basis.add_unit(x + k * d);
  std::vector<double> others(y + d, y + step), rest(d);
  basis.extend(others.data(), Y.tangents);
  for (Index p = 0; p < d; ++p) rest[p] = x[p] - y[p];
  basis.remove_from(rest.data());
  return dot(rest.data(), rest.data(), d);
}

struct Small {
  std::vector<double> u, r, S;
};

// From the inner products of the rows of a pair; negative if too many digits are lost.
double from_products(const double* products, Index stride, const double* x_own, const double* y_own, Index p,
                     double squared, Small& work) {
  double *u = work.u.data(), *r = work.r.data(), *S = work.S.data();
  double value = squared;
  for (Index k = 0; k < p; ++k) {
    u[k] = x_own[k] - products[(k + 1) * stride];
    r[k] = products[k + 1] - y_own[k];
    value -= u[k] * u[k];
  }
  for (Index a = 0; a < p; ++a)
    for (Index b = 0; b <= a; ++b) S[a * p + b] = a == b;
  for (Index k = 0; k < p; ++k) {
    const double* g = products + (k + 1) * stride + 1;
    for (Index a = 0; a < p; ++a) {
      r[a] -= g[a] * u[k];
      for (Index b = 0; b <= a; ++b) S[a * p + b] -= g[a] * g[b];
    }
  }
  // Elimination of the lower triangle of S without pivots: they are at least the smallest squared sine.
  for (Index k = 0; k < p; ++k) {
    double pivot = S[k * p + k];
    if (!(pivot > kNear)) return -1;
    value -= r[k] * r[k] / pivot;
    for (Index a = k + 1; a < p; ++a) {
      double factor = S[a * p + k] / pivot;
      r[a] -= factor * r[k];
      for (Index b = k + 1; b <= a; ++b) S[a * p + b] -= factor * S[b * p + k];
    }
  }
  return value > kNear * squared ? value : -1;
}

}  // namespace

void orthonormalise(double* vectors, Index images, Index tangents, Index pixels, int threads,
                    const Look& look) {
  struct None {};
  watched_loop<None>(images, threads, look, [&](Index i, Watch& watch, None&) {
    watch.pause();
    Basis(pixels).extend(vectors + i * tangents * pixels, tangents);
  });
}

void plane_distances(const Planes& X, const Planes& Y, const double* products, double* out, int threads,
                     const Look& look) {
  const Index p = X.tangents, stride = Y.images * (p + 1);
  watched_loop<Small>(X.images, threads, look, [&](Index i, Watch& watch, Small& work) {
    work.u.resize(p), work.r.resize(p), work.S.resize(p * p);
    for (Index j = 0; j < Y.images; ++j) {
      watch.pause();
      double& value = out[i * Y.images + j];
      const double* block = products + i * (p + 1) * stride + j * (p + 1);
      double found = value;
      if (value > 0) found = from_products(block, stride, X.own + i * p, Y.own + j * p, p, value, work);
      value = found < 0 ? from_rows(X, i, Y, j) : found;
    }
  });
}

}  // namespace mercer
