// The loops of SMO: see native/svm/smo.hpp for the method.
//
// Whether a variable may grow or shrink is kept as an array of rates, infinite where it may not: the scans
// have no branches.  Of equal values the first counts, whatever the width of a vector.
#include "floats.hpp"
#include "tiles.hpp"

namespace mercer::MERCER_TILES {
namespace {

// Vectors of S, the numbers of a scan: those of double, or twice as many of float.
template <class S>
struct Lanes;

template <>
struct Lanes<double> {
  using V = Vec;
  static constexpr int count = kLanes;
};

template <>
struct Lanes<float> {
  using V = FloatVec;
  static constexpr int count = kFloatLanes;
};

template <class S>
using VecOf = typename Lanes<S>::V;

// Numbers of T as a vector of S; S is at least as wide.
template <class S, class T>
MERCER_INLINE VecOf<S> read(const T* p) {
  if constexpr (sizeof(S) == sizeof(double)) {
    return load(p);
  } else {
    return load_floats(p);
  }
}

template <class S>
MERCER_INLINE VecOf<S> all(double a) {
  return static_cast<S>(a) - VecOf<S>{};
}

template <class S>
MERCER_INLINE VecOf<S> first_places() {
  S lanes[Lanes<S>::count];
  for (int l = 0; l < Lanes<S>::count; ++l) lanes[l] = static_cast<S>(l);
  return read<S>(lanes);
}

#if MERCER_VECTORS
template <class S, int count>
struct HalfOf {
  typedef S V __attribute__((vector_size(count / 2 * sizeof(S))));
};

template <class S, int count, class V>
MERCER_INLINE S largest(V a) {
  if constexpr (count == 2) {
    return larger(a[0], a[1]);
  } else {
    typename HalfOf<S, count>::V low, high;
    std::memcpy(&low, &a, sizeof low);
    std::memcpy(&high, reinterpret_cast<const char*>(&a) + sizeof low, sizeof high);
    return largest<S, count / 2>(low > high ? low : high);
  }
}

// The largest number of all lanes.
template <class S>
MERCER_INLINE S largest(VecOf<S> a) {
  return largest<S, Lanes<S>::count>(a);
}
#else
template <class S>
MERCER_INLINE S largest(S a) {
  return a;
}
#endif

// The largest number of each lane, and where it was seen first.
template <class S>
struct Best {
  VecOf<S> value, place;

  MERCER_INLINE void see(VecOf<S> candidate, VecOf<S> at) {
    auto better = candidate > value;
    value = better ? candidate : value;
    place = better ? at : place;
  }
};

// Independent searches that run side by side, since each comparison waits for the one before it; they take
// kPadding numbers at a time.
template <class S>
constexpr int kSearches = sizeof(S) == sizeof(double) ? 4 : 2;

// The best of several searches: of equal values the first place.
template <class S, int count>
MERCER_INLINE double best_of(const Best<S> (&searches)[count], Index& where) {
  VecOf<S> top = searches[0].value;
  for (int k = 1; k < count; ++k) top = larger(top, searches[k].value);
  VecOf<S> most = all<S>(static_cast<double>(largest<S>(top))), never = all<S>(-kInfinity), first = never;
  for (int k = 0; k < count; ++k)
    first = larger(first, searches[k].value == most ? -searches[k].place : never);
  S place = largest<S>(first);
  where = place > -kInfinity ? -static_cast<Index>(place) : -1;
  return static_cast<double>(largest<S>(top));
}

// Arrays are padded to a multiple of kPadding numbers, with offsets beyond the last variable that rule it
// out.
template <bool moves, class T, class S>
Extremes scan(Index count, S* grad, const T* first, double a, const T* second, double b, const S* up,
              const S* down) {
  constexpr int searches = kSearches<S>, lanes = Lanes<S>::count;
  Best<S> high[searches], low[searches];
  for (int k = 0; k < searches; ++k) high[k] = low[k] = {all<S>(-kInfinity), all<S>(0.0)};
  VecOf<S> place = first_places<S>(), factor = all<S>(a), other = all<S>(b);
  for (Index j = 0; j < count;)
    for (int k = 0; k < searches; ++k, j += lanes, place += static_cast<S>(lanes)) {
      VecOf<S> value = read<S>(grad + j);
      if constexpr (moves) {
        value = muladd(factor, read<S>(first + j), value);
        value = muladd(other, read<S>(second + j), value);
        store(grad + j, value);
      }
      high[k].see(read<S>(up + j) - value, place);
      low[k].see(value - read<S>(down + j), place);
    }
  Extremes e;
  e.high = best_of(high, e.up);
  e.low = -best_of(low, e.down);
  return e;
}

template <class S>
Extremes extremes(Index count, const S* grad, const S* up, const S* down) {
  return scan<false, S, S>(count, const_cast<S*>(grad), nullptr, 0.0, nullptr, 0.0, up, down);
}

template <class T, class S>
Extremes advance(Index count, S* grad, const T* first, double a, const T* second, double b, const S* up,
                 const S* down) {
  return scan<true>(count, grad, first, a, second, b, up, down);
}

// The j of the greatest gain d_j^2 / c_j, where d_j is by how much the pair (i, j) violates optimality and
// c_j = K_ii + K_jj - 2 K_ij.  Fractions are compared by cross-multiplication.
template <class T, class S>
Index partner(Index count, const S* grad, const S* down, const T* row, const S* diagonal, double top,
              double own, double least) {
  constexpr int searches = kSearches<S>, lanes = Lanes<S>::count;
  Best<S> best[searches];
  VecOf<S> curvature[searches], place = first_places<S>();
  VecOf<S> highest = all<S>(top), mine = all<S>(own), floor = all<S>(least), zero = all<S>(0.0);
  for (int k = 0; k < searches; ++k) best[k] = {zero, all<S>(kInfinity)}, curvature[k] = all<S>(1.0);
  for (Index j = 0; j < count;)
    for (int k = 0; k < searches; ++k, j += lanes, place += static_cast<S>(lanes)) {
      // down - grad first: for i itself the difference is then exactly zero.
      VecOf<S> d = larger(highest - (read<S>(down + j) - read<S>(grad + j)), zero);
      VecOf<S> c = larger(muladd(all<S>(-2.0), read<S>(row + j), mine + read<S>(diagonal + j)), floor);
      VecOf<S> g = d * d;
      auto better = g * curvature[k] > best[k].value * c;
      best[k].value = better ? g : best[k].value;
      best[k].place = better ? place : best[k].place;
      curvature[k] = better ? c : curvature[k];
    }
  for (int k = 0; k < searches; ++k) best[k].value = best[k].value / curvature[k];
  Index found;
  best_of(best, found);
  return found;
}

// grad[j] += sum_r factors[r] rows[r][j] for first <= j < last, rows in order.
template <class T>
void add_rows(Index count, const T* const* rows, const double* factors, Index first, Index last,
              double* grad) {
  constexpr int kTogether = 4;
  Index r = 0;
  for (; r + kTogether <= count; r += kTogether) {
    const T* const* at = rows + r;
    const T* const* next = r + 2 * kTogether <= count ? at + kTogether : at;
    const double* a = factors + r;
    Index j = first;
    for (; j + kLanes <= last; j += kLanes) {
      Vec sum = load(grad + j);
      for (int k = 0; k < kTogether; ++k) {
        prefetch(next[k] + j);
        sum = muladd(splat(a[k]), load(at[k] + j), sum);
      }
      store(grad + j, sum);
    }
    for (; j < last; ++j)
      for (int k = 0; k < kTogether; ++k) grad[j] = muladd(a[k], static_cast<double>(at[k][j]), grad[j]);
  }
  for (; r < count; ++r) {
    Index j = first;
    for (; j + kLanes <= last; j += kLanes)
      store(grad + j, muladd(splat(factors[r]), load(rows[r] + j), load(grad + j)));
    for (; j < last; ++j) grad[j] = muladd(factors[r], static_cast<double>(rows[r][j]), grad[j]);
  }
}

// The same from the start, and the sum of the magnitudes: grad[j] += sum_r a_r k_rj, size[j] = sum_r |a_r
// k_rj|.
template <class T>
void weigh_rows(Index count, const T* const* rows, const double* factors, Index first, Index last,
                double* grad, double* size) {
  for (Index j = first; j < last; ++j) size[j] = 0.0;
  for (Index r = 0; r < count; ++r) {
    Index j = first;
    for (; j + kLanes <= last; j += kLanes) {
      Vec term = splat(factors[r]) * load(rows[r] + j);
      store(grad + j, load(grad + j) + term);
      store(size + j, load(size + j) + magnitude(term));
    }
    for (; j < last; ++j) {
      double term = factors[r] * static_cast<double>(rows[r][j]);
      grad[j] += term;
      size[j] += magnitude(term);
    }
  }
}

template <class T, class S>
Scans<T, S> scans() {
  return {extremes<S>, advance<T, S>, partner<T, S>};
}

}  // namespace

void fill_smo(Table& table) {
  table.f64.scans = scans<double, double>();
  table.f32.scans = scans<float, double>();
  table.f32.coarse_scans = scans<float, float>();
  table.f64.add_rows = add_rows<double>;
  table.f32.add_rows = add_rows<float>;
  table.f64.weigh_rows = weigh_rows<double>;
  table.f32.weigh_rows = weigh_rows<float>;
}

}  // namespace mercer::MERCER_TILES
