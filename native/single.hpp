// Single rows of a Gaussian Gram matrix, exact up to their rounding to single precision.
//
// For solvers that need a few rows out of many, one after the other: points lie in panels, so that a row
// costs no more than its sums, in double precision, and their powers.  The value of a pair does not depend on
// its place, or on which of the two points is the row.
#pragma once

#include "panels.hpp"
#include "table.hpp"

namespace mercer {

class SingleRows {
 public:
  // n points of so many features, scaled so that the kernel is exp(-|x - y|^2 / 2).
  SingleRows(const double* points, Index n, Index features) : points_(points, n, features) {}

  Index size() const { return points_.size(); }

  // Values of point i with points first .. first + count - 1.
  void fill(Index i, Index first, Index count, float* out) const;

 private:
  Panels<double> points_;
};

}  // namespace mercer
