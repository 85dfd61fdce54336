// What one instruction set offers: a table of single-threaded functions, each computing one tile.
//
//   module.cpp  -->  drivers (pairwise, sparse, products)  -->  Table  -->  native/tiles, once per ISA
//   Python           cut the output into tiles, threads         |           arithmetic, no allocation
//                                                               '-- chosen at load by dispatch.cpp
//
// A tile function fills rows x cols entries of `out`, at most kTileRows x kTileCols of them, and may use
// `work`, a 64-byte aligned scratch area whose size the table states.  The value of a pair depends on the
// pair alone, never on its place in a tile: sums run over features in order, in double precision.
#pragma once

#include <cstdint>

namespace mercer {

using Index = std::int64_t;

// The order is part of the interface: src/mercer/engine/pairwise.py mirrors it.
enum Op : int { kSqEuclidean, kL1, kMin, kMax, kChiSquare, kJensen, kOpCount, kDot = kOpCount };

inline constexpr Index kTileRows = 128;
inline constexpr Index kTileCols = 128;

// Row i of a dense matrix is data[i * stride .. i * stride + cols).
template <class T>
struct Dense {
  const T* data;
  Index rows, cols, stride;
};

// Canonical compressed rows: column indices strictly increasing within a row.
template <class T, class I>
struct Csr {
  const T* data;
  const I* indices;
  const I* indptr;  // rows + 1 offsets into the whole of data
  Index rows;
};

template <class T>
struct Output {
  T* data;
  Index stride;
};

template <class T>
using DenseTile = void (*)(Dense<T> X, Dense<T> Y, Output<T> out, double* work);
template <class T, class I>
using CsrTile = void (*)(Csr<T, I> X, Csr<T, I> Y, Output<T> out);
template <class T>
using AnovaTile = void (*)(Dense<T> X, Dense<T> Y, const double* weights, const double* coefficients,
                           Index degree, Output<T> out, double* work);
template <class T>
using SubsetsTile = void (*)(Dense<T> X, Dense<T> Y, const double* weights, Output<T> out, double* work);

template <class T>
struct Tiles {
  DenseTile<T> pairwise[kOpCount];
  CsrTile<T, std::int32_t> csr32[kOpCount];
  CsrTile<T, std::int64_t> csr64[kOpCount];
  AnovaTile<T> anova;
  SubsetsTile<T> all_subsets;
};

struct Table {
  Tiles<double> f64;
  Tiles<float> f32;
  Index pairwise_work;  // doubles of scratch for a pairwise tile
  Index (*anova_work)(Index degree);
  Index all_subsets_work;

  template <class T>
  const Tiles<T>& tiles() const {
    if constexpr (sizeof(T) == sizeof(double))
      return f64;
    else
      return f32;
  }
};

}  // namespace mercer
