// Points in panels of kPanel, feature by feature, with half the square of their norm: what rows of Gaussian
// Gram matrices are computed from.
#pragma once

#include <vector>

#include "table.hpp"

namespace mercer {

template <class T>
class Panels {
 public:
  Panels(const T* points, Index n, Index features)
      : n_(n),
        features_(features),
        numbers_(static_cast<std::size_t>(count() * kPanel * features)),
        halves_(static_cast<std::size_t>(count() * kPanel)) {
    for (Index i = 0; i < n; ++i) {
      const T* x = points + i * features;
      T* to = numbers_.data() + place(i);
      double square = 0.0;
      for (Index k = 0; k < features; ++k) {
        to[k * kPanel] = x[k];
        square += static_cast<double>(x[k]) * static_cast<double>(x[k]);
      }
      halves_[i] = static_cast<T>(0.5 * square);
    }
  }

  Index size() const { return n_; }
  Index features() const { return features_; }
  Index count() const { return (n_ + kPanel - 1) / kPanel; }

  // Feature k of point i is point(i)[k * kPanel].
  const T* point(Index i) const { return numbers_.data() + place(i); }
  // |x|^2 / 2 of point i, and of those behind it.
  const T* halves(Index i) const { return halves_.data() + i; }

 private:
  Index place(Index i) const { return i / kPanel * features_ * kPanel + i % kPanel; }

  Index n_, features_;
  std::vector<T> numbers_;  // [panel][feature][column]
  std::vector<T> halves_;
};

}  // namespace mercer
