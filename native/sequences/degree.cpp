#include "degree.hpp"

#include <algorithm>

namespace mercer {
namespace {

// Pairs between two looks at the clock.
constexpr Index kPairs = 16;

double along(const std::int32_t* x, const std::int32_t* y, Index length, const DegreeRule& rule) {
  double sum = 0.0;
  for (Index i = 0, run = 0; i < length; ++i) {
    run = x[i] == y[i] ? std::min(run + 1, rule.degree) : 0;
    sum += rule.gains[run];
  }
  return sum;
}

double value(const PairList& pairs, Index p, const DegreeRule& rule, Watch& watch) {
  const Index i = pairs.rows[p], j = pairs.cols[p], n = pairs.X.length(i), m = pairs.Y.length(j);
  const std::int32_t* x = pairs.X.codes + pairs.X.starts[i];
  const std::int32_t* y = pairs.Y.codes + pairs.Y.starts[j];
  double sum = rule.shifts[0] * along(x, y, std::min(n, m), rule);
  for (Index s = 1; s <= rule.shift && s < std::max(n, m); ++s) {
    if (n + m > 10000) watch.pause();
    double later = s < n ? along(x + s, y, std::min(n - s, m), rule) : 0.0;
    double earlier = s < m ? along(x, y + s, std::min(n, m - s), rule) : 0.0;
    sum += rule.shifts[s] * (later + earlier);
  }
  return sum;
}

struct Nothing {};

}  // namespace

void weighted_degree(const PairList& pairs, const DegreeRule& rule, double* values, int threads,
                     const Look& look) {
  watched_loop<Nothing>((pairs.count + kPairs - 1) / kPairs, threads, look,
                        [&](Index g, Watch& watch, Nothing&) {
                          watch.pause();
                          const Index last = std::min(pairs.count, (g + 1) * kPairs);
                          for (Index p = g * kPairs; p < last; ++p) values[p] = value(pairs, p, rule, watch);
                        });
}

}  // namespace mercer
