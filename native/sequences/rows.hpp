// Rows of a block of values of strings: cut over threads, each with scratch of its own.
#pragma once

#include <cstdint>
#include <new>

#include "table.hpp"

namespace mercer {

// Strings one after the other: string i is codes[starts[i] .. starts[i + 1]).
struct Strings {
  const std::int32_t* codes;
  const Index* starts;
  Index count;

  const std::int32_t* begin(Index i) const { return codes + starts[i]; }
  Index length(Index i) const { return starts[i + 1] - starts[i]; }
};

// Calls row(i, scratch) for every row.  Scratch may allocate: what a thread cannot get is thrown as
// std::bad_alloc once all threads are done, for nothing may be thrown across them.
template <class Scratch, class Row>
void for_each_row(Index rows, int threads, Row&& row) {
  int failed = 0;
#pragma omp parallel num_threads(threads) if (threads > 1 && rows > 1) reduction(| : failed)
  {
    Scratch scratch;
#pragma omp for schedule(dynamic)
    for (Index i = 0; i < rows; ++i) {
      try {
        if (!failed) row(i, scratch);
      } catch (const std::bad_alloc&) {
        failed = 1;
      }
    }
  }
  if (failed) throw std::bad_alloc();
}

}  // namespace mercer
