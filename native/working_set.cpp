// Which variables the working set of a decomposition has, and how large it is.
#include <algorithm>
#include <cstdint>

#include "decomposition.hpp"

namespace mercer {
namespace {

// Variables of a working set at first; twice as many and all are as good.
constexpr Index kFirstSize = 256;

// A set of at least so many variables, which are at least this part of all, grows only if half of it is free.
constexpr Index kFairSize = 512, kFairShare = 32;

// An odd number that scatters indices: 2^64 over the golden ratio.
constexpr std::uint64_t kMixing = 0x9e3779b97f4a7c15;

}  // namespace

// Brings the variables that violate most into the set, upwards and downwards alike.  They take the places of
// those that sit at a bound, then of those that have been there for longest.
template <class T>
void Decomposition<T>::choose(const Extremes* e) {
  if (whole_) return;
  if (p_.n <= 2 * kFirstSize && cache_.capacity >= p_.n) {
    in_.grow(p_.n, groups());
    for (Index i = 0; i < p_.n; ++i) in_.enter(i, i, column(i));
    whole_ = true;
    return;
  }
  if (size_ == 0) in_.grow(size_ = std::min({p_.n, kFirstSize, cache_.capacity}), groups());
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
  if (larger > size_) in_.grow(size_ = larger, groups());
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

template class Decomposition<float>;
template class Decomposition<double>;

}  // namespace mercer
