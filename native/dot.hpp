// Dot products by the BLAS that SciPy has loaded; this library links none of its own.
#pragma once

#include "table.hpp"

namespace mercer {

template <class T>
using Gemm = void (*)(char* transa, char* transb, int* m, int* n, int* k, T* alpha, T* a, int* lda, T* b,
                      int* ldb, T* beta, T* c, int* ldc);

void set_gemm(Gemm<double> dgemm, Gemm<float> sgemm);
bool has_gemm();

// out = X Y^T, cut into blocks that depend on the shape alone.  BLAS, which the caller holds to one thread,
// adds in an order that depends on the shape it is given and on its own threads; this way neither changes.
template <class T>
void dot(Dense<T> X, Dense<T> Y, Output<T> out, int threads) noexcept;

}  // namespace mercer
