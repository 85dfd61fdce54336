// Sums over pairs of walks of equal length in two graphs: walks in their direct product graph.
#pragma once

#include "../sequences/watched.hpp"
#include "batch.hpp"

namespace mercer {

// What walks need of graphs: a code of each node and arc, the row (in X) or column (in Y) of a table of
// similarities, and the factors of a step and of the first and the last node of a walk.
struct WalkGraphs {
  GraphBatch batch;
  const Index *node_codes, *arc_codes;
  const double *weights, *starts, *stops;
};

struct Similarities {
  const double* values;
  Index columns;
  double operator()(Index a, Index b) const { return values[a * columns + b]; }
};

enum WalkSeries : int {
  kSolve,       // all lengths, weight ratios[0]^l: a linear system
  kTruncate,    // lengths up to count, weight ratios[0] * ... * ratios[l - 1]
  kExponential  // all lengths, weight ratios[0]^l / l!
};

struct WalkRule {
  WalkSeries series;
  const double* ratios;
  Index count;
};

enum WalkStatus : std::int32_t {
  kConverges,    // the value is right
  kUnproved,     // it is right if the series converges, which the signs leave open
  kNotConverged  // the solver did not reach its tolerance, or the series diverges
};

// With N the similarities of pairs of nodes and W the product of weights and similarity of pairs of arcs:
// out = sum over l of c_l a' N (W N)^l b, where a and b are products of starts and of stops.
void walk_sums(const WalkGraphs& X, const WalkGraphs& Y, const Similarities& nodes, const Similarities& arcs,
               const WalkRule& rule, const Index* rows, const Index* cols, Index count, double* out,
               std::int32_t* status, int threads, const Look& look);

// The same of symmetric graphs without labels, from eigenvalues and squared sums of eigenvectors: graph i has
// those at starts[i] to starts[i + 1].
struct Spectra {
  const double *values, *weights;
  const Index* starts;
};
void spectral_walk_sums(const Spectra& X, const Spectra& Y, const WalkRule& rule, const Index* rows,
                        const Index* cols, Index count, double* out, int threads, const Look& look);

}  // namespace mercer
