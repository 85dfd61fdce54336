// Context trees: the letters of a string by the letters before them, and the mixture of all tree models.
//
// A node stands for a context: the root for the empty one, its children for the last letter before, theirs
// for the last two, and so on.  With fractional counts r of the letters that follow a context, the evidence
// of the context is the Dirichlet integral
//
//     E(r) = int prod_e theta_e^(r_e) Dir(theta; b, ..., b)
//
// and the mixture over all trees that split each node with the probability p is, from the leaves up,
//
//     L(node) = (1 - p) E(node) + p prod L(children),      L(leaf) = E(leaf)
//
// in logarithms.  Children that were never met have E = L = 1.  In the tree of a pair of strings the counts
// add up.  What only one of the two has met keeps its own L, so that a pair costs what the two have in
// common.
#pragma once

#include <vector>

#include "sequences/rows.hpp"

namespace mercer {

struct ContextModel {
  Index depth;     // most letters of a context
  bool boundary;   // whether the begin of a string is a letter of contexts
  double letters;  // size of the alphabet
  double sigma;    // every string counts as that many letters
  double split;    // p
  double prior;    // b
};

class ContextForest {
 public:
  explicit ContextForest(const ContextModel& model) : model_(model) {}

  // Adds the trees of strings.
  void plant(Strings strings, int threads);
  Index nodes() const;

  // Logarithms of the values of trees of this forest with those of another: of row i with the first
  // limit + i columns.
  void block(const Index* rows, Index n, const ContextForest& other, const Index* columns, Index m,
             Index limit, double* out, Index stride, int threads) const;
  void diagonal(const Index* rows, Index n, double* out, int threads) const;

 private:
  struct Node {
    std::int32_t symbol;  // that the context of the parent is extended by; kBoundary at the begin
    std::int32_t end;     // number after the last node below
    std::int32_t count;   // number of the first count
    double value;         // log L for this string alone
  };
  struct Count {
    std::int32_t letter;
    std::int32_t amount;
  };
  struct Tree {
    std::vector<Node> nodes;  // parents before their children, which are in the order of symbols
    std::vector<Count> counts;
    double scale = 0.0;  // fraction of a letter that each letter counts
  };
  class Grower;
  class Pairing;

  ContextModel model_;
  std::vector<Tree> trees_;
};

// log Gamma(b + r) - log Gamma(b) for b > 0 and r >= 0, to full relative accuracy for small r too.
double log_rising(double b, double r);

}  // namespace mercer
