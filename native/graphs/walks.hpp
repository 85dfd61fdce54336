// Sums over pairs of walks of equal length in two graphs: walks in their direct product graph.
#pragma once

#include <cstdint>

#include "../sequences/watched.hpp"

namespace mercer {

using Index = std::int64_t;

// Graphs one after the other.  Node v of the batch has the arcs arc_starts[v] to arc_starts[v + 1]; a target
// is the number of a node within its graph.  Codes are rows (of X) or columns (of Y) of a table of
// similarities.
struct WalkGraphs {
  const Index *node_starts, *arc_starts;
  const std::int32_t* targets;
  const double* weights;
  const Index *node_codes, *arc_codes;
  const double *starts, *stops;  // factors of the first and of the last node of a walk
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
