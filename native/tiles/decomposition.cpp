// The loops of the two-variable decomposition method: see native/decomposition.hpp for the problem.
//
// Whether a variable may grow or shrink is kept as an array of offsets, infinite where it may not: the scans
// have no branches.  Of equal values the first counts, whatever the width of a vector.
#include "simd.hpp"
#include "tiles.hpp"

namespace mercer::MERCER_TILES {
namespace {

MERCER_INLINE Vec widened(const double* p) { return load(p); }
MERCER_INLINE Vec widened(const float* p) {
#if defined(__AVX512F__)
  return _mm512_cvtps_pd(_mm256_loadu_ps(p));
#elif defined(__AVX__)
  return _mm256_cvtps_pd(_mm_loadu_ps(p));
#elif MERCER_VECTORS
  return Vec{static_cast<double>(p[0]), static_cast<double>(p[1])};
#else
  return static_cast<double>(*p);
#endif
}

MERCER_INLINE Vec first_places() {
  double lanes[kLanes];
  for (int l = 0; l < kLanes; ++l) lanes[l] = l;
  return load(lanes);
}

// The largest number of each lane, and where it was seen first.
struct Best {
  Vec value, place;

  MERCER_INLINE void see(Vec candidate, Vec at) {
    auto better = candidate > value;
    value = better ? candidate : value;
    place = better ? at : place;
  }

  MERCER_INLINE double of_all(Index& where) const {
    double values[kLanes], places[kLanes];
    store(values, value);
    store(places, place);
    int best = 0;
    for (int l = 1; l < kLanes; ++l)
      if (values[l] > values[best] || (values[l] == values[best] && places[l] < places[best])) best = l;
    where = static_cast<Index>(places[best]);
    return values[best];
  }
};

// Independent searches that run side by side, since each comparison waits for the one before it.
constexpr int kSearches = 4;

// The best of several searches: of equal values the first place.
template <int count>
double best_of(const Best (&searches)[count], Index& where) {
  double most = searches[0].of_all(where);
  for (int k = 1; k < count; ++k) {
    Index place;
    double value = searches[k].of_all(place);
    if (value > most || (value == most && place < where)) most = value, where = place;
  }
  return most;
}

// Arrays have room for kPadding numbers at a time, with offsets beyond the last variable that rule it out.
template <bool moves, class T>
Extremes scan(Index count, double* f, const T* first, double a, const T* second, double b, const double* up,
              const double* down) {
  Best high[kSearches], low[kSearches];
  for (int k = 0; k < kSearches; ++k) high[k] = low[k] = {splat(-kInfinity), splat(0.0)};
  Vec place = first_places(), factor = splat(a), other = splat(b);
  for (Index j = 0; j < count;)
    for (int k = 0; k < kSearches; ++k, j += kLanes, place += static_cast<double>(kLanes)) {
      Vec value = load(f + j);
      if constexpr (moves) {
        value = muladd(factor, widened(first + j), value);
        value = muladd(other, widened(second + j), value);
        store(f + j, value);
      }
      high[k].see(load(up + j) - value, place);
      low[k].see(value - load(down + j), place);
    }
  Extremes e;
  e.high = best_of(high, e.up);
  e.low = -best_of(low, e.down);
  return e;
}

Extremes extremes(Index count, const double* f, const double* up, const double* down) {
  return scan<false, double>(count, const_cast<double*>(f), nullptr, 0.0, nullptr, 0.0, up, down);
}

template <class T>
Extremes advance(Index count, double* f, const T* first, double a, const T* second, double b,
                 const double* up, const double* down) {
  return scan<true>(count, f, first, a, second, b, up, down);
}

// The j of the greatest gain d_j^2 / c_j, where d_j is by how much the pair (i, j) violates optimality and
// c_j = K_ii + K_jj - 2 K_ij.  Fractions are compared by cross-multiplication.
template <class T>
Index partner(Index count, const double* f, const double* down, const T* row, const double* diagonal,
              double top, double own, double least) {
  Vec gain[kSearches], curvature[kSearches], found[kSearches], place = first_places();
  for (int k = 0; k < kSearches; ++k) gain[k] = splat(0.0), curvature[k] = splat(1.0), found[k] = splat(-1.0);
  for (Index j = 0; j < count;)
    for (int k = 0; k < kSearches; ++k, j += kLanes, place += static_cast<double>(kLanes)) {
      Vec d = larger(top - load(down + j) + load(f + j), splat(0.0));
      Vec c = larger(muladd(splat(-2.0), widened(row + j), own + load(diagonal + j)), splat(least));
      Vec g = d * d;
      auto better = g * curvature[k] > gain[k] * c;
      gain[k] = better ? g : gain[k];
      curvature[k] = better ? c : curvature[k];
      found[k] = better ? place : found[k];
    }
  constexpr int all = kSearches * kLanes;
  double gains[all], curvatures[all], places[all];
  for (int k = 0; k < kSearches; ++k) {
    store(gains + k * kLanes, gain[k]);
    store(curvatures + k * kLanes, curvature[k]);
    store(places + k * kLanes, found[k]);
  }
  int best = 0;
  for (int l = 1; l < all; ++l) {
    double mine = gains[l] * curvatures[best], other = gains[best] * curvatures[l];
    if (mine > other || (mine == other && places[l] >= 0.0 && places[l] < places[best])) best = l;
  }
  return static_cast<Index>(places[best]);
}

// f[j] += sum_r factors[r] rows[r][j] for first <= j < last, rows in order.
template <class T>
void add_rows(Index count, const T* const* rows, const double* factors, Index first, Index last, double* f) {
  constexpr int kTogether = 4;
  Index r = 0;
  for (; r + kTogether <= count; r += kTogether) {
    const T* const* at = rows + r;
    const double* a = factors + r;
    Index j = first;
    for (; j + kLanes <= last; j += kLanes) {
      Vec sum = load(f + j);
      for (int k = 0; k < kTogether; ++k) sum = muladd(splat(a[k]), widened(at[k] + j), sum);
      store(f + j, sum);
    }
    for (; j < last; ++j)
      for (int k = 0; k < kTogether; ++k) f[j] = muladd(a[k], static_cast<double>(at[k][j]), f[j]);
  }
  for (; r < count; ++r) {
    Index j = first;
    for (; j + kLanes <= last; j += kLanes)
      store(f + j, muladd(splat(factors[r]), widened(rows[r] + j), load(f + j)));
    for (; j < last; ++j) f[j] = muladd(factors[r], static_cast<double>(rows[r][j]), f[j]);
  }
}

template <class T>
void fill_tiles(Tiles<T>& tiles) {
  tiles.advance = advance<T>;
  tiles.partner = partner<T>;
  tiles.add_rows = add_rows<T>;
}

}  // namespace

void fill_decomposition(Table& table) {
  table.extremes = extremes;
  fill_tiles(table.f64);
  fill_tiles(table.f32);
}

}  // namespace mercer::MERCER_TILES
