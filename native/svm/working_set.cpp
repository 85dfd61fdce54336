// The working set of SMO: which variables it has, how large it is, and the block of K on them.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "dispatch.hpp"
#include "smo.hpp"

namespace mercer {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Variables of a working set at first; problems of at most twice as many have all of them in the set.
constexpr Index kFirstSize = 256;

// A set of at least this many variables, which are at least this part of all, grows only if half of it is
// free.
constexpr Index kFairSize = 512, kFairShare = 32;

// An odd number that scatters indices: 2^64 over the golden ratio.
constexpr std::uint64_t kMixing = 0x9e3779b97f4a7c15;

// Numbers to copy that are worth another thread.
constexpr Index kWorthAThread = 1 << 14;

// Numbers of a line of the cache.
constexpr Index kLine = 16;

}  // namespace

// Not a power of two: the numbers of a column would meet in one set of the cache.
template <class T>
Index Smo<T>::row_stride(Index n) {
  return padded(n) + kLine;
}

template <class T>
void Smo<T>::grow(Index size) {
  Index old = set_.stride, count = std::ssize(set_.member);
  set_.resize(size_ = size, p_.groups());
  auto larger = std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(size * set_.stride));
  for (Index a = 0; a < count; ++a) std::copy_n(set_.K + a * old, count, larger.get() + a * set_.stride);
  set_.own = std::move(larger);
  set_.K = set_.own.get();
}

template <class T>
void Smo<T>::WorkingSet::resize(Index size, int groups) {
  stride = row_stride(size);
  auto length = static_cast<std::size_t>(stride);
  for (auto* array : {&beta, &low, &high}) array->resize(length);
  state.resize(length, groups);
  if constexpr (sizeof(T) == sizeof(float)) coarse.resize(length, groups);
}

template <class T>
template <class S>
void Smo<T>::State<S>::resize(std::size_t stride, int groups) {
  grad.resize(stride);
  diagonal.resize(stride);
  up.assign(stride * static_cast<std::size_t>(groups), static_cast<S>(-kInfinity));
  down.assign(stride * static_cast<std::size_t>(groups), static_cast<S>(kInfinity));
}

// Scans read beyond the last member, up to whole vectors.
template <class T>
void Smo<T>::WorkingSet::pad(Index row) {
  Index count = std::ssize(member);
  std::fill(K + row * stride + count, K + row * stride + padded(count), T(0));
}

template <class T>
void Smo<T>::WorkingSet::enter(Index at, Index i) {
  if (at == std::ssize(member))
    member.push_back(i), chosen.push_back(0), is_fresh.push_back(true);
  else
    place[member[at]] = -1, member[at] = i, is_fresh[at] = true;
  place[i] = at;
}

// Brings the variables that violate most into the set, upwards and downwards alike.  They take the places of
// those that sit at a bound, then of those that have been there for longest.
template <class T>
void Smo<T>::choose(const Extremes* e) {
  if (whole_) return;
  if (p_.n <= 2 * kFirstSize && cache_.capacity >= p_.n) {
    grow(p_.n);
    for (Index i = 0; i < p_.n; ++i) set_.enter(i, i);
    whole_ = true;
    return;
  }
  if (size_ == 0) grow(std::min({p_.n, kFirstSize, cache_.capacity}));
  std::vector<Index> wanted = violators(e, std::max<Index>(1, size_ / (4 * p_.groups())));

  std::vector<Index> fresh;
  for (Index i : wanted)
    if (Index at = set_.place[i]; at >= 0)
      set_.chosen[at] = rounds_;
    else
      fresh.push_back(i);

  if (std::ssize(fresh) > size_ / 4) grow_if_useful();
  Index next = std::ssize(set_.member), spare = std::max<Index>(0, size_ - next);
  std::vector<Index> leaving;
  if (std::ssize(fresh) > spare) {
    for (Index a = 0; a < next; ++a)
      if (set_.chosen[a] < rounds_) leaving.push_back(a);
    auto sooner = [&](Index a, Index c) {
      if (is_free(a) != is_free(c)) return is_free(c);
      return set_.chosen[a] != set_.chosen[c] ? set_.chosen[a] < set_.chosen[c] : a < c;
    };
    std::sort(leaving.begin(), leaving.end(), sooner);
  }
  std::size_t left = 0;
  for (Index i : fresh) {
    if (set_.place[i] >= 0) continue;  // wanted in both directions
    if (std::ssize(set_.member) < size_)
      set_.enter(std::ssize(set_.member), i);
    else if (left < leaving.size())
      set_.enter(leaving[left++], i);
    else
      break;
    set_.chosen[set_.place[i]] = rounds_;
  }
}

// Lets the set grow, if it may and if that is of use: for free members, which stay, or for fewer rounds, each
// of which reads all variables.  What comes, moves to a bound and goes is as well served by a small set.
template <class T>
void Smo<T>::grow_if_useful() {
  Index free = 0, larger = 2 * size_, most = kSetSize;
  for (Index a = 0; a < std::ssize(set_.member); ++a) free += is_free(a);
  bool fair = size_ >= kFairSize && size_ >= p_.n / kFairShare && p_.n > kSetSize;
  if (fair && 2 * free < size_) return;
  Index many = size_ - size_ / 8;
  if (size_ >= kSetSize && free > many) larger = size_ + kSetSize / 2, most = kFreeSetSize;
  larger = std::min({larger, most, p_.n, cache_.capacity});
  if (larger > size_) grow(larger);
}

// Whether a member of the set is between its bounds, and not zero.
template <class T>
bool Smo<T>::is_free(Index at) const {
  return set_.beta[at] > set_.low[at] && set_.beta[at] < set_.high[at] && set_.beta[at] != 0.0;
}

// At most `each` variables for each group and direction, the most violating first.
template <class T>
std::vector<Index> Smo<T>::violators(const Extremes* e, Index each) const {
  struct Candidate {
    double score;
    std::uint64_t tie;  // equal scores, as at the start, are taken from everywhere
    Index i;
  };
  auto before = [](const Candidate& a, const Candidate& b) {
    return a.score != b.score ? a.score > b.score : a.tie < b.tie;
  };
  std::vector<Index> result;
  std::vector<Candidate> candidates;
  for (int g = 0; g < p_.groups(); ++g)
    for (bool upwards : {true, false}) {
      const double* rate = (upwards ? up_ : down_).data() + g * padded_;
      double bound = p_.constraint == kFree ? 0.0 : upwards ? e[g].low : e[g].high;
      candidates.clear();
      for (Index i = 0; i < p_.n; ++i) {
        double value = rate[i] - grad_[i], score = upwards ? value - bound : bound - value;
        if (score > 0.0) candidates.push_back({score, static_cast<std::uint64_t>(i) * kMixing, i});
      }
      auto end = candidates.begin() + std::min<std::ptrdiff_t>(each, std::ssize(candidates));
      if (end != candidates.end()) std::nth_element(candidates.begin(), end, candidates.end(), before);
      std::sort(candidates.begin(), end, before);
      for (auto c = candidates.begin(); c != end; ++c) result.push_back(c->i);
    }
  return result;
}

// Rows and columns of the members that are new, from the rows of K, and the state of all.
template <class T>
void Smo<T>::collect() {
  WorkingSet& set = set_;
  struct Place {
    std::int32_t variable, at;
  };
  std::vector<Place> all, fresh;
  Index count = std::ssize(set.member);
  for (Index c = 0; c < count && !make_; ++c) {
    Place place{static_cast<std::int32_t>(set.member[c]), static_cast<std::int32_t>(c)};
    all.push_back(place);
    if (set.is_fresh[c]) fresh.push_back(place);
  }
  if (!fresh.empty()) {
    // Rows are read from left to right, which the machine foresees.
    auto left = [](Place c, Place d) { return c.variable < d.variable; };
    std::sort(all.begin(), all.end(), left);
    std::sort(fresh.begin(), fresh.end(), left);
#pragma omp parallel for schedule(dynamic, 16) \
    num_threads(threads_) if (threads_ > 1 && std::ssize(fresh) * count > kWorthAThread)
    for (Index r = 0; r < count; ++r) {
      const T* row = cache_[set.member[r]];
      T* to = set.K + r * set.stride;
      for (Place place : set.is_fresh[r] ? all : fresh) to[place.at] = row[place.variable];
      set.pad(r);
    }
    std::fill(set.is_fresh.begin(), set.is_fresh.end(), false);
  }
  set.gain = 0.0;
  for (Index a = 0; a < count; ++a) {
    Index i = set.member[a];
    set.beta[a] = beta_[i];
    set.low[a] = p_.low[i];
    set.high[a] = p_.high[i];
  }
}

template class Smo<float>;
template class Smo<double>;

}  // namespace mercer
