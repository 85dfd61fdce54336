// A sum of terms over two sorted sparse rows, which are merged over the union of their supports; a missing
// entry is a zero.  Terms vanish at (0, 0), so nothing else contributes, and the sum has the bits of the
// dense one.
#pragma once

#include "../table.hpp"
#include "simd.hpp"

namespace mercer::MERCER_TILES {
namespace {

template <class Term, class T, class I>
double merged(Csr<T, I> X, Index i, Csr<T, I> Y, Index j) {
  double acc = 0.0;
  Index p = X.indptr[i], q = Y.indptr[j];
  const Index p_end = X.indptr[i + 1], q_end = Y.indptr[j + 1];
  while (p < p_end && q < q_end) {
    I a = X.indices[p], b = Y.indices[q];
    double u = a <= b ? static_cast<double>(X.data[p]) : 0.0;
    double v = b <= a ? static_cast<double>(Y.data[q]) : 0.0;
    p += a <= b;
    q += b <= a;
    acc = Term::step(acc, u, v);
  }
  for (; p < p_end; ++p) acc = Term::step(acc, static_cast<double>(X.data[p]), 0.0);
  for (; q < q_end; ++q) acc = Term::step(acc, 0.0, static_cast<double>(Y.data[q]));
  return acc;
}

}  // namespace
}  // namespace mercer::MERCER_TILES
