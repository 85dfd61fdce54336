#include "reduced.hpp"

#include <algorithm>
#include <vector>

#include "dispatch.hpp"

namespace mercer {
namespace {

// Rows of one task, in groups that fill the registers: their points and a panel stay in the first cache.
constexpr Index kGroups = 4, kMostRows = 16;

// Tasks for each thread; if rows are few, columns are divided too.
constexpr Index kTasks = 4;

}  // namespace

void fill_reduced(OffsetPoints x, OffsetPoints y, Index features, const float* coefficients,
                  const Index* slots, Output<float> out, int threads) {
  const Table& t = table();
  Index count = x.count, n = y.count;
  Index panels = (n + kPanel - 1) / kPanel, height = t.reduced_rows, each = kGroups * height;
  std::vector<float> packed(
      static_cast<std::size_t>(panels * kPanel * features));  // [panel][feature][column]
  std::vector<float> offsets(static_cast<std::size_t>(panels * kPanel));
  Index down = (count + each - 1) / each;
  Index across = threads == 1 || down == 0 ? 1 : std::clamp<Index>(kTasks * threads / down, 1, panels);
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
#pragma omp for schedule(static)
    for (Index p = 0; p < panels; ++p)
      for (Index i = p * kPanel; i < std::min(n, (p + 1) * kPanel); ++i) {
        const float* from = y.points + i * features;
        float* to = packed.data() + p * kPanel * features + i % kPanel;
        for (Index k = 0; k < features; ++k) to[k * kPanel] = from[k];
        offsets[i] = y.offsets[i];
      }
    std::vector<float> groups(static_cast<std::size_t>(each * features));  // [group][feature][row]
    float row_offsets[kGroups * kMostRows];
    float* to[kMostRows];
#pragma omp for schedule(dynamic) collapse(2)
    for (Index task = 0; task < down; ++task)
      for (Index part = 0; part < across; ++part) {
        Index first = task * each, last = std::min(count, first + each);
        for (Index r = 0; r < last - first || r % height != 0; ++r) {  // the last row fills up its group
          Index i = std::min(first + r, last - 1);
          const float* from = x.points + i * features;
          float* group = groups.data() + r / height * height * features + r % height;
          for (Index k = 0; k < features; ++k) group[k * height] = from[k];
          row_offsets[r] = x.offsets[i];
        }
        for (Index p = part * panels / across; p < (part + 1) * panels / across; ++p)
          for (Index r = first; r < last; r += height) {
            Index some = std::min(height, last - r), column = p * kPanel;
            for (Index k = 0; k < some; ++k) to[k] = out.data + slots[r + k] * out.stride + column;
            t.fill_reduced({groups.data() + (r - first) * features, row_offsets + (r - first), some, to},
                           {packed.data() + column * features, offsets.data() + column, features,
                            std::min(kPanel, n - column)},
                           coefficients);
          }
      }
  }
}

}  // namespace mercer
