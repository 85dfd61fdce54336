// The functions that Python calls, on plain pointers: they cut their output into tiles and run the chosen
// instruction set on them.  The caller has checked everything.
#pragma once

#include "dispatch.hpp"
#include "grid.hpp"

namespace mercer {

template <class T>
Status pairwise(int op, Dense<T> X, Dense<T> Y, Output<T> out, int threads) noexcept {
  const Table& t = table();
  DenseTile<T> tile = t.tiles<T>().pairwise[op];
  return for_each_tile(X.rows, Y.rows, X.cols, t.pairwise_work, threads,
                       [=](Index i, Index rows, Index j, Index cols, double* work) {
                         tile(slice(X, i, rows), slice(Y, j, cols), slice(out, i, j), work);
                       });
}

template <class T, class I>
Status csr_pairwise(int op, Csr<T, I> X, Csr<T, I> Y, Output<T> out, int threads) noexcept {
  CsrTile<T, I> tile = table().tiles<T>().template csr<I>().pairwise[op];
  Index stored = X.rows + Y.rows == 0 ? 0 : (X.indptr[X.rows] + Y.indptr[Y.rows]) / (X.rows + Y.rows);
  return for_each_tile(X.rows, Y.rows, 8 * stored, 0, threads,
                       [=](Index i, Index rows, Index j, Index cols, double*) {
                         tile(slice(X, i, rows), slice(Y, j, cols), slice(out, i, j));
                       });
}

template <class T>
Status anova(Dense<T> X, Dense<T> Y, const double* weights, const double* coefficients, Index degree,
             Output<T> out, int threads) noexcept {
  const Table& t = table();
  AnovaTile<T> tile = t.tiles<T>().anova;
  return for_each_tile(X.rows, Y.rows, X.cols * (degree + 1), t.anova_work(degree), threads,
                       [=](Index i, Index rows, Index j, Index cols, double* work) {
                         tile(slice(X, i, rows), slice(Y, j, cols), weights, coefficients, degree,
                              slice(out, i, j), work);
                       });
}

template <class T>
Status all_subsets(Dense<T> X, Dense<T> Y, const double* weights, Output<T> out, int threads) noexcept {
  const Table& t = table();
  SubsetsTile<T> tile = t.tiles<T>().all_subsets;
  return for_each_tile(X.rows, Y.rows, 2 * X.cols, t.all_subsets_work, threads,
                       [=](Index i, Index rows, Index j, Index cols, double* work) {
                         tile(slice(X, i, rows), slice(Y, j, cols), weights, slice(out, i, j), work);
                       });
}

}  // namespace mercer
