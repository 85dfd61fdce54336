// Matrices of sums (or minima) over the alignments of series.
#pragma once

#include <functional>

#include "../table.hpp"

namespace mercer {

// Series i has the steps starts[i] to starts[i + 1], of `channels` numbers each.
struct SeriesSet {
  const double* values;
  const double* gauge;  // one number per step; null where the operation needs none
  const Index* starts;
  Index count, channels;

  Index length(Index i) const { return starts[i + 1] - starts[i]; }
  const double* series(Index i) const { return values + starts[i] * channels; }
};

// A negative `band` is none.  For kDtw a cell counts if |i - j| is at most the band or the difference of the
// two lengths, whichever is larger; for the others |i - j| < band, with the weight 1 - |i - j| / band.
struct AlignmentTask {
  Alignment op;
  double scale;
  Index band;
  int threads;
  std::function<void()> watch;  // called now and then on the calling thread; what it throws ends the work
};

// out[i * Y.count + j] for all pairs; with `symmetric`, Y is X and each pair is computed once.
void align(const AlignmentTask& task, const SeriesSet& X, const SeriesSet& Y, bool symmetric, double* out);

// The gauge of each step of each series, and the sum over alignments of each with itself in its gauge.
void gauge(const AlignmentTask& task, const SeriesSet& X, double* out, double* norms);

}  // namespace mercer
