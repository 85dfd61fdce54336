#include "colours.hpp"

#include <algorithm>

namespace mercer {
namespace {

constexpr Index kNodesPerPause = 256;

std::uint64_t mixed(std::uint64_t h) {
  h ^= h >> 32;
  h *= 0x9e3779b97f4a7c15u;
  return h ^ (h >> 29);
}

// Numbers for keys: a table with open addressing, whose entries are compared in full.
class KeyTable {
 public:
  explicit KeyTable(const ColourKeys& known) : known_(known) {
    reserve(known.count);
    for (Index i = 0; i < known.count; ++i) {
      const std::int64_t* key = known.words + known.starts[i];
      hashes_.push_back(hash(key, known.starts[i + 1] - known.starts[i]));
      place(i);
    }
  }

  Index number(const std::vector<std::int64_t>& key) {
    auto size = static_cast<Index>(key.size());
    std::uint64_t h = hash(key.data(), size);
    for (std::size_t slot = h & mask_; slots_[slot] >= 0; slot = (slot + 1) & mask_) {
      Index i = slots_[slot];
      if (hashes_[static_cast<std::size_t>(i)] == h && equal(i, key)) return i;
    }
    auto i = static_cast<Index>(hashes_.size());
    hashes_.push_back(h);
    added_.words.insert(added_.words.end(), key.begin(), key.end());
    added_.starts.push_back(static_cast<Index>(added_.words.size()));
    if (2 * hashes_.size() > slots_.size())
      reserve(i + 1);
    else
      place(i);
    return i;
  }

  NewKeys&& added() { return std::move(added_); }

 private:
  static std::uint64_t hash(const std::int64_t* key, Index size) {
    auto h = static_cast<std::uint64_t>(size);
    for (Index i = 0; i < size; ++i) h = mixed(h + static_cast<std::uint64_t>(key[i]));
    return h;
  }

  bool equal(Index i, const std::vector<std::int64_t>& key) const {
    bool old = i < known_.count;
    const Index* starts = old ? known_.starts + i : added_.starts.data() + (i - known_.count);
    const std::int64_t* words = (old ? known_.words : added_.words.data()) + starts[0];
    return starts[1] - starts[0] == static_cast<Index>(key.size()) &&
           std::equal(key.begin(), key.end(), words);
  }

  void place(Index i) {
    std::size_t slot = hashes_[static_cast<std::size_t>(i)] & mask_;
    while (slots_[slot] >= 0) slot = (slot + 1) & mask_;
    slots_[slot] = i;
  }

  // Slots for twice as many entries; those that are there find their places again.
  void reserve(Index count) {
    std::size_t size = 64;
    while (size < 4 * static_cast<std::size_t>(count)) size *= 2;
    slots_.assign(size, -1);
    mask_ = size - 1;
    for (std::size_t i = 0; i < hashes_.size(); ++i) place(static_cast<Index>(i));
  }

  const ColourKeys& known_;
  NewKeys added_;
  std::vector<std::uint64_t> hashes_;
  std::vector<Index> slots_;
  std::size_t mask_ = 0;
};

// The sorted pairs (label, colour) of a node, one word each, after what is in `key`.
void add_pairs(const ArcRows& arcs, Index node, const std::int32_t* colours, std::vector<std::int64_t>& key) {
  std::size_t first = key.size();
  for (Index a = arcs.starts[node]; a < arcs.starts[node + 1]; ++a)
    key.push_back((static_cast<std::int64_t>(arcs.codes[a]) << 32) | colours[arcs.ends[a]]);
  std::sort(key.begin() + static_cast<std::ptrdiff_t>(first), key.end());
}

}  // namespace

bool transpose_arcs(const ArcRows& arcs, Index nodes, Index* starts, Index* ends, std::int32_t* codes) {
  Index count = arcs.starts[nodes];
  std::fill(starts, starts + nodes + 1, 0);
  for (Index a = 0; a < count; ++a) ++starts[arcs.ends[a] + 1];
  for (Index v = 0; v < nodes; ++v) starts[v + 1] += starts[v];
  std::vector<Index> next(starts, starts + nodes);
  for (Index v = 0; v < nodes; ++v)
    for (Index a = arcs.starts[v]; a < arcs.starts[v + 1]; ++a) {
      Index at = next[static_cast<std::size_t>(arcs.ends[a])]++;
      ends[at] = v;
      codes[at] = arcs.codes[a];
    }
  return std::equal(starts, starts + nodes + 1, arcs.starts) && std::equal(ends, ends + count, arcs.ends) &&
         std::equal(codes, codes + count, arcs.codes);
}

NewKeys refine_colours(const ArcRows& out, const ArcRows* in, Index nodes, const std::int32_t* colours,
                       const ColourKeys& known, std::int32_t* refined, const std::function<void()>& pause) {
  KeyTable table(known);
  std::vector<std::int64_t> key, into;
  for (Index v = 0; v < nodes; ++v) {
    if (v % kNodesPerPause == 0) pause();
    key.assign(1, colours[v]);
    add_pairs(out, v, colours, key);
    if (in != nullptr) {
      into.clear();
      add_pairs(*in, v, colours, into);
      if (!std::equal(key.begin() + 1, key.end(), into.begin(), into.end())) {
        key.push_back(-1);
        key.insert(key.end(), into.begin(), into.end());
      }
    }
    refined[v] = static_cast<std::int32_t>(table.number(key));
  }
  return table.added();
}

}  // namespace mercer
