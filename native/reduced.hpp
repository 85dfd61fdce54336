// Rows of a Gram matrix in reduced precision: single precision throughout.
//
// The implementation of reduced=True of a tile program that is a function of one squared distance or inner
// product of dense points (engine/reduced.py).  The general program works in double precision and writes a
// tile between any two steps; here inner products stay in registers, and the function is a polynomial that is
// looked up in a table, whatever the steps are.  The value of a pair depends neither on the number of
// threads, nor on its place, nor on which of the two points is the row.
#pragma once

#include "table.hpp"

namespace mercer {

// Points in single precision, each with a number of its own.
struct OffsetPoints {
  const float* points;
  const float* offsets;
  Index count;
};

// Values f(a + b - <x, y>) for points x, which have the numbers a, and y, which have the numbers b, of so
// many features: row r goes to row slots[r] of `out`.
void fill_reduced(OffsetPoints x, OffsetPoints y, Index features, const float* coefficients,
                  const Index* slots, Output<float> out, int threads);

}  // namespace mercer
