// Classes of symbols: label -1 - i stands for every symbol but some.
#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "semirings.hpp"

namespace mercer::automata {

class Classes {
 public:
  Classes() = default;
  // Sorted codes that class i leaves out: from starts[i] to starts[i + 1].
  Classes(const Label* excluded, const Index* starts, Index count) {
    for (Index i = 0; i < count; ++i) excluded_.emplace_back(excluded + starts[i], excluded + starts[i + 1]);
  }

  bool contains(Label label, Label symbol) const {
    const auto& out = excluded_[-1 - label];
    return !std::binary_search(out.begin(), out.end(), symbol);
  }

  // The class of the symbols in both; made if there is none yet.
  Label meet(Label a, Label b) {
    if (a == b) return a;
    auto [place, is_new] = meets_.try_emplace(std::minmax(a, b));
    if (!is_new) return place->second;
    const auto &x = excluded_[-1 - a], &y = excluded_[-1 - b];
    std::vector<Label> both;
    std::set_union(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(both));
    auto known = std::find(excluded_.begin(), excluded_.end(), both);
    Index number = known - excluded_.begin();
    if (known == excluded_.end()) excluded_.push_back(std::move(both));
    return place->second = static_cast<Label>(-1 - number);
  }

  const std::vector<std::vector<Label>>& excluded() const { return excluded_; }

 private:
  std::vector<std::vector<Label>> excluded_;
  std::map<std::pair<Label, Label>, Label> meets_;
};

}  // namespace mercer::automata
