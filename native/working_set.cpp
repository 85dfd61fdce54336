// The working set of a decomposition: which variables it has, how large it is, and what is known of them.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>

#include "decomposition.hpp"
#include "dispatch.hpp"
#include "rough.hpp"

namespace mercer {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Variables of a working set at first; twice as many and all are as good.
constexpr Index kFirstSize = 256;

// A set of at least so many variables, which are at least this part of all, grows only if half of it is free.
constexpr Index kFairSize = 512, kFairShare = 32;

// An odd number that scatters indices: 2^64 over the golden ratio.
constexpr std::uint64_t kMixing = 0x9e3779b97f4a7c15;

// Numbers to copy that are worth another thread.
constexpr Index kWorthAThread = 1 << 14;

// Rows of K_WW whose new columns are copied at a time: a line of the cache has as many numbers.
constexpr Index kBand = 16;

}  // namespace

template <class T>
void Decomposition<T>::Inner::grow(Index size, Index most, int groups) {
  Index old = width, count = K == nullptr ? 0 : std::ssize(member);
  resize(size, groups);
  auto bytes = static_cast<std::size_t>(size * width) * sizeof(T);
  if (bytes <= own.bytes()) {  // rows move to the right, the last one first
    for (Index a = count - 1; a > 0; --a)
      std::copy_backward(K + a * old, K + a * old + count, K + a * width + count);
  } else {
    Room larger(std::max(bytes, static_cast<std::size_t>(most * row_stride(most)) * sizeof(T)));
    for (Index a = 0; a < count; ++a) std::copy_n(K + a * old, count, larger.as<T>() + a * width);
    own = larger;
  }
  K = own.as<T>();
}

// Large problems take the memory of a large set at once, and use as much of it as they need.
template <class T>
void Decomposition<T>::grow(Index size) {
  Index most = p_.n <= kSetSize ? size : size <= kSetSize ? kSetSize : kFreeSetSize;
  in_.grow(size_ = size, std::min({most, p_.n, cache_.capacity}), groups());
}

template <class T>
void Decomposition<T>::Inner::resize(Index size, int groups) {
  width = row_stride(size);
  auto room = static_cast<std::size_t>(width);
  for (auto* array : {&b, &low, &high}) array->resize(room);
  state.resize(room, groups);
  if constexpr (sizeof(T) == sizeof(float)) coarse.resize(room, groups);
}

template <class T>
template <class S>
void Decomposition<T>::State<S>::resize(std::size_t width, int groups) {
  f.resize(width);
  diagonal.resize(width);
  up.assign(width * static_cast<std::size_t>(groups), static_cast<S>(-kInfinity));
  down.assign(width * static_cast<std::size_t>(groups), static_cast<S>(kInfinity));
}

template <class T>
void Decomposition<T>::Inner::clear() {
  for (Index i : member) place[i] = -1;
  for (auto* list : {&member, &column, &chosen, &fresh}) list->clear();
}

// Scans read beyond the last member, up to whole vectors.
template <class T>
void Decomposition<T>::Inner::pad(Index row) {
  Index count = std::ssize(member);
  std::fill(K + row * width + count, K + row * width + padded(count), T(0));
}

template <class T>
void Decomposition<T>::Inner::enter(Index at, Index i, Index column_of_i) {
  if (at == std::ssize(member))
    member.push_back(i), column.push_back(column_of_i), chosen.push_back(0);
  else
    place[member[at]] = -1, member[at] = i, column[at] = column_of_i;
  place[i] = at;
  fresh.push_back(at);
}

// Not a power of two: the numbers of a column would meet in one set of the cache.
template <class T>
Index Decomposition<T>::row_stride(Index n) {
  return padded(n) + kBand;
}

template <class T>
void Decomposition<T>::release_memory() {
  if (in_.own.bytes() == 0) return;
  in_.own = {};
  in_.K = nullptr;
  in_.fresh.resize(in_.member.size());
  std::iota(in_.fresh.begin(), in_.fresh.end(), Index(0));
}

// Brings the variables that violate most into the set, upwards and downwards alike.  They take the places of
// those that sit at a bound, then of those that have been there for longest.
template <class T>
void Decomposition<T>::choose(const Extremes* e) {
  if (in_.K == nullptr && size_ > 0) grow(size_);
  if (whole_) return;
  if (p_.n <= 2 * kFirstSize && cache_.capacity >= p_.n) {
    grow(p_.n);
    for (Index i = 0; i < p_.n; ++i) in_.enter(i, i, column(i));
    whole_ = true;
    return;
  }
  if (size_ == 0) grow(std::min({p_.n, kFirstSize, cache_.capacity}));
  std::vector<Index> wanted = violators(e, std::max<Index>(1, size_ / (4 * groups())));

  std::vector<Index> fresh;
  for (Index i : wanted)
    if (Index at = in_.place[i]; at >= 0)
      in_.chosen[at] = rounds_;
    else
      fresh.push_back(i);

  if (std::ssize(fresh) > size_ / 4) make_room();
  Index next = std::ssize(in_.member), spare = std::max<Index>(0, size_ - next);
  std::vector<Index> leaving;
  if (std::ssize(fresh) > spare) {
    for (Index a = 0; a < next; ++a)
      if (in_.chosen[a] < rounds_) leaving.push_back(a);
    auto sooner = [&](Index a, Index c) {
      if (is_free(a) != is_free(c)) return is_free(c);
      return in_.chosen[a] != in_.chosen[c] ? in_.chosen[a] < in_.chosen[c] : a < c;
    };
    std::sort(leaving.begin(), leaving.end(), sooner);
  }
  std::size_t left = 0;
  for (Index i : fresh) {
    if (in_.place[i] >= 0) continue;  // a free variable may violate in both directions
    if (std::ssize(in_.member) < size_)
      in_.enter(std::ssize(in_.member), i, column(i));
    else if (left < leaving.size())
      in_.enter(leaving[left++], i, column(i));
    else
      break;
    in_.chosen[in_.place[i]] = rounds_;
  }
}

// Lets the set grow, if it may and if that is of use: for free members, which stay, or for fewer rounds, each
// of which looks at all variables.  What comes, moves to a bound and goes is as well served by a small set.
template <class T>
void Decomposition<T>::make_room() {
  Index free = 0, larger = 2 * size_, most = kSetSize;
  for (Index a = 0; a < std::ssize(in_.member); ++a) free += is_free(a);
  bool fair = size_ >= kFairSize && size_ >= p_.n / kFairShare && p_.n > kSetSize;
  if (fair && 2 * free < size_) return;
  Index many = size_ - size_ / 8;
  if (size_ >= kSetSize && free > many) larger = size_ + kSetSize / 2, most = kFreeSetSize;
  larger = std::min({larger, most, p_.n, cache_.capacity});
  if (larger > size_) grow(larger);
}

// Whether a member of the set may move in both directions.
template <class T>
bool Decomposition<T>::is_free(Index at) const {
  return in_.b[at] > in_.low[at] && in_.b[at] < in_.high[at] && in_.b[at] != 0.0;
}

// At most so many variables for each group and direction, the worst first.
template <class T>
std::vector<Index> Decomposition<T>::violators(const Extremes* e, Index each) const {
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
  for (int g = 0; g < groups(); ++g)
    for (bool upwards : {true, false}) {
      const double* offset = (upwards ? up_ : down_).data() + g * padded_;
      double bound = p_.constraint == kFree ? 0.0 : upwards ? e[g].low : e[g].high;
      candidates.clear();
      for (Index i = 0; i < p_.n; ++i) {
        double value = offset[i] - f_[i], score = upwards ? value - bound : bound - value;
        if (score > 0.0) candidates.push_back({score, static_cast<std::uint64_t>(i) * kMixing, i});
      }
      auto end = candidates.begin() + std::min<std::ptrdiff_t>(each, std::ssize(candidates));
      if (end != candidates.end()) std::nth_element(candidates.begin(), end, candidates.end(), before);
      std::sort(candidates.begin(), end, before);
      for (auto c = candidates.begin(); c != end; ++c) result.push_back(c->i);
    }
  return result;
}

// K_WW if W has all variables, in their order.
template <class T>
void Decomposition<T>::collect_all() {
  for (Index i = 0; i < p_.n; ++i)
    for (const Run& run : runs_)
      std::copy_n(cache_[i] + run.from, run.length, in_.K + i * in_.width + run.at);
  for (Index i = 0; i < p_.n; ++i) in_.pad(i);
  in_.fresh.clear();
}

// Rows of the members that are new, from the rows of K.
template <class T>
void Decomposition<T>::pick_rows() {
  Inner& in = in_;
  Index count = std::ssize(in.member), news = std::ssize(in.fresh);
  struct Place {
    std::int32_t column, at;
  };
  // Rows are read from left to right, which the machine foresees.
  std::vector<Place> order(static_cast<std::size_t>(count));
  for (Index c = 0; c < count; ++c)
    order[c] = {static_cast<std::int32_t>(in.column[c]), static_cast<std::int32_t>(c)};
  std::sort(order.begin(), order.end(), [](Place c, Place d) { return c.column < d.column; });
#pragma omp parallel for schedule(dynamic, 16) \
    num_threads(threads_) if (threads_ > 1 && news * count > kWorthAThread)
  for (Index k = 0; k < news; ++k) {
    const T* row = cache_[in.member[in.fresh[k]]];
    T* to = in.K + in.fresh[k] * in.width;
    for (Place place : order) to[place.at] = row[place.column];
  }
}

// The new columns of the other rows, some of these at a time, so that they stay in cache.
template <class T>
void Decomposition<T>::copy_columns() {
  Inner& in = in_;
  Index count = std::ssize(in.member), width = in.width, news = std::ssize(in.fresh);
  std::vector<char> is_fresh(static_cast<std::size_t>(count), false);
  for (Index c : in.fresh) is_fresh[c] = true;
  std::vector<Run> neighbours;  // among the new columns
  for (Index c : in.fresh)
    if (neighbours.empty() || c != neighbours.back().at + neighbours.back().length)
      neighbours.push_back({c, c, 1});
    else
      ++neighbours.back().length;
  Index bands = (count + kBand - 1) / kBand;
#pragma omp parallel for schedule(dynamic) \
    num_threads(threads_) if (threads_ > 1 && news * count > kWorthAThread)
  for (Index band = 0; band < bands; ++band) {
    Index first = band * kBand, last = std::min(count, first + kBand);
    bool all_old =
        std::find(is_fresh.begin() + first, is_fresh.begin() + last, true) == is_fresh.begin() + last;
    for (const Run& run : neighbours) {
      if constexpr (sizeof(T) == sizeof(float))
        if (all_old && run.length >= kBand) {
          table().mirror(in.K + run.at * width + first, width, run.length, last - first,
                         in.K + first * width + run.at, width, false);
          continue;
        }
      for (Index c = run.at; c < run.at + run.length; ++c)
        for (Index r = first; r < last; ++r)
          if (!is_fresh[r]) in.K[r * width + c] = in.K[c * width + r];
    }
  }
}

// Rows and columns of the members that are new, and the state of all.
template <class T>
void Decomposition<T>::collect() {
  Inner& in = in_;
  if (whole_ && !in.fresh.empty()) collect_all();
  std::sort(in.fresh.begin(), in.fresh.end());
  in.fresh.erase(std::unique(in.fresh.begin(), in.fresh.end()), in.fresh.end());
  Index count = std::ssize(in.member), width = in.width, news = std::ssize(in.fresh);
  if constexpr (sizeof(T) == sizeof(float)) {
    if (rough_ != nullptr && news > 0)
      rough_->fill_square(count, in.member.data(), news, in.fresh.data(), {in.K, width}, threads_);
  }
  if (rough_ == nullptr) pick_rows();
  if (news > 0) {
    if (news < count) copy_columns();
    for (Index a = 0; a < count; ++a) in.pad(a);
  }
  in.fresh.clear();
  in.gain = 0.0;
  for (Index a = 0; a < count; ++a) {
    Index i = in.member[a];
    in.b[a] = b_[i];
    in.low[a] = p_.low[i];
    in.high[a] = p_.high[i];
  }
}

template class Decomposition<float>;
template class Decomposition<double>;

}  // namespace mercer
