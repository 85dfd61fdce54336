// Rows of a Gaussian Gram matrix in single precision throughout, at half the cost of double precision.
//
// For steps towards an optimum whose gradient is computed anew in the end: values are off by about
// 2^-23 |x|^2 relative to themselves, where x is a point in units of the width, and nobody but a solver that
// knows this should see them.  The value of a pair does not depend on the number of threads, on its place, or
// on which of the two points is the row.
#pragma once

#include "panels.hpp"
#include "table.hpp"

namespace mercer {

class RoughRows {
 public:
  // n points of so many features, scaled so that the kernel is 2^(-|x - y|^2 / 2).
  RoughRows(const float* points, Index n, Index features) : points_(points, n, features) {}

  // Row rows[r] of the matrix to row slots[r] of `out`.
  void fill(Index count, const Index* rows, const Index* slots, Output<float> out, int threads) const;

  // The whole matrix, with what is above the diagonal copied: rows first to last - 1 up to the diagonal, and
  // the same columns.  Calls begin at multiples of kMirrored.
  static constexpr Index kMirrored = 96;
  void fill_whole(Index first, Index last, Output<float> out, int threads) const;

  // Rows first to last - 1 on and below the diagonal; numbers above it have no meaning afterwards.
  void fill_lower(Index first, Index last, Output<float> out, int threads) const;

  // Values of the points members[places[r]] with all of the `size` members to row places[r] of `out`.
  void fill_square(Index size, const Index* members, Index count, const Index* places, Output<float> out,
                   int threads) const;

  // out[j] += sum_r factors[r] K[rows[r]][j]
  void add_product(Index count, const Index* rows, const double* factors, double* out, int threads) const;

 private:
  RoughPanel panel(Index p) const;
  template <class Row>
  void pack(Index count, const Row& row, float* x, float* halves) const;
  template <class Row, class Slot, class Count>
  void fill_groups(Index count, const Row& row, const Slot& slot, const Count& panels_of, Output<float> out,
                   int threads) const;

  Panels<float> points_;
};

}  // namespace mercer
