// Cuts an n x m output into tiles and runs them on several threads.
#pragma once

#include <memory>
#include <new>

#include "table.hpp"

namespace mercer {

enum Status : int { kOk = 0, kOutOfMemory = 1 };

// Scratch of the calling thread, kept from call to call because asking for it each time costs more than a
// small tile.  Null when there is no memory.
double* scratch(Index doubles) noexcept;

// Calls tile(i, rows, j, cols, work) for all tiles of the grid.  `cost` is the number of operations per entry
// of the output: jobs that are over in some microseconds are not worth waking another thread.  The tile must
// not throw.
template <class Tile>
Status for_each_tile(Index n, Index m, Index cost, Index work, int threads, Tile&& tile) noexcept {
  if (n <= 0 || m <= 0) return kOk;
  constexpr double kWorthAThread = 1 << 16;
  double most =
      static_cast<double>(n) * static_cast<double>(m) * static_cast<double>(cost + 1) / kWorthAThread;
  if (most < threads) threads = most < 1.0 ? 1 : static_cast<int>(most);

  // Fewer rows per tile when there would not be enough tiles for every thread; the values do not change.
  Index rows = kTileRows, across = (m + kTileCols - 1) / kTileCols;
  while (threads > 1 && rows > 16 && (n + rows - 1) / rows * across < 4 * threads) rows /= 2;
  Index count = (n + rows - 1) / rows * across;

  int failed = 0;
#pragma omp parallel num_threads(threads) if (threads > 1) reduction(| : failed)
  {
    double* mine = scratch(work);
    failed |= mine == nullptr;
#pragma omp for schedule(dynamic)
    for (Index t = 0; t < count; ++t) {
      if (mine == nullptr) continue;
      Index i = t / across * rows, j = t % across * kTileCols;
      tile(i, n - i < rows ? n - i : rows, j, m - j < kTileCols ? m - j : kTileCols, mine);
    }
  }
  return failed ? kOutOfMemory : kOk;
}

template <class T>
Dense<T> slice(Dense<T> A, Index first, Index count) {
  return {A.data + first * A.stride, count, A.cols, A.stride};
}
template <class T, class I>
Csr<T, I> slice(Csr<T, I> A, Index first, Index count) {
  return {A.data, A.indices, A.indptr + first, count};
}
template <class T>
Output<T> slice(Output<T> out, Index i, Index j) {
  return {out.data + i * out.stride + j, out.stride};
}

}  // namespace mercer
