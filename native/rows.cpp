#include "rows.hpp"

#include <algorithm>
#include <vector>

#include "dispatch.hpp"

namespace mercer {
namespace {

// Columns that one thread takes at a time; their sums stay in the first cache.
constexpr Index kColumns = 2048;

// Numbers to read that are worth another thread.
constexpr Index kManyToRead = 1 << 19;

}  // namespace

template <class T>
void add_rows(const T* K, Index stride, Index count, const Index* rows, const double* factors, Index n,
              double* out, int threads) {
  std::vector<const T*> starts(static_cast<std::size_t>(count));
  for (Index r = 0; r < count; ++r) starts[r] = K + rows[r] * stride;
  Index pieces = (n + kColumns - 1) / kColumns;
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (threads > 1 && count * n > kManyToRead)
  for (Index piece = 0; piece < pieces; ++piece) {
    Index first = piece * kColumns;
    table().tiles<T>().add_rows(count, starts.data(), factors, first, std::min(n, first + kColumns), out);
  }
}

template void add_rows(const float*, Index, Index, const Index*, const double*, Index, double*, int);
template void add_rows(const double*, Index, Index, const Index*, const double*, Index, double*, int);

}  // namespace mercer
