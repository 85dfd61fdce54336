#include "rough.hpp"

#include <algorithm>
#include <vector>

#include "dispatch.hpp"
#include "grid.hpp"

namespace mercer {
namespace {

// Groups of rows that one job takes: their points and a panel stay in the first cache.
constexpr Index kGroups = 4;

// Jobs for each thread, so that none is left waiting; if rows are few, columns are divided too.
constexpr Index kJobs = 4;

// Most rows of a group, whatever the instruction set.
constexpr Index kMostRows = 16;

}  // namespace

RoughPanel RoughRows::panel(Index p) const {
  Index column = p * kPanel;
  return {points_.point(column), points_.halves(column), points_.features(),
          std::min(kPanel, points_.size() - column)};
}

// Groups of the rows row(0) .. row(count - 1) one after the other; the last is filled up with its last row.
template <class Row>
void RoughRows::pack(Index count, const Row& row, float* x, float* halves) const {
  Index width = table().rough_rows, features = points_.features();
  for (Index r = 0; r < count || r % width != 0; ++r) {
    Index i = row(std::min(r, count - 1));
    const float* from = points_.point(i);
    float* to = x + r / width * width * features + r % width;
    for (Index k = 0; k < features; ++k) to[k * width] = from[k * kPanel];
    halves[r] = *points_.halves(i);
  }
}

// Row row(r) to row slot(r) of `out`, for r < count; panels_of(r) says how many panels rows up to r need.
template <class Row, class Slot, class Count>
void RoughRows::fill_groups(Index count, const Row& row, const Slot& slot, const Count& panels_of,
                            Output<float> out, int threads) const {
  const Table& t = table();
  Index height = t.rough_rows, each = kGroups * height, down = (count + each - 1) / each;
  Index features = points_.features(), most = points_.count();
  Index across = threads == 1 || down == 0 ? 1 : std::clamp<Index>(kJobs * threads / down, 1, most);
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    std::vector<float> x(static_cast<std::size_t>(each * features));
    float halves[kGroups * kMostRows];
    float* to[kMostRows];
#pragma omp for schedule(dynamic) collapse(2)
    for (Index job = 0; job < down; ++job)
      for (Index part = 0; part < across; ++part) {
        Index first = job * each, last = std::min(count, first + each), panels = panels_of(last - 1);
        pack(last - first, [&](Index r) { return row(first + r); }, x.data(), halves);
        for (Index p = part * panels / across; p < (part + 1) * panels / across; ++p)
          for (Index r = first; r < last; r += height) {
            Index some = std::min(height, last - r);
            for (Index k = 0; k < some; ++k) to[k] = out.data + slot(r + k) * out.stride + p * kPanel;
            t.fill_rough({x.data() + (r - first) * features, halves + (r - first), some, to}, panel(p));
          }
      }
  }
}

void RoughRows::fill(Index count, const Index* rows, const Index* slots, Output<float> out,
                     int threads) const {
  auto row = [=](Index r) { return rows[r]; };
  auto slot = [=](Index r) { return slots[r]; };
  Index panels = points_.count();
  fill_groups(count, row, slot, [=](Index) { return panels; }, out, threads);
}

// Jobs are as wide as whole panels, so that no two write to the same place.
void RoughRows::fill_whole(Index first, Index last, Output<float> out, int threads) const {
  static_assert(kMirrored % kPanel == 0);
  const Table& t = table();
  Index height = t.rough_rows, features = points_.features(),
        jobs = (last - first + kMirrored - 1) / kMirrored;
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    std::vector<float> x(static_cast<std::size_t>((kMirrored + height) * features));
    float halves[kMirrored + kMostRows];
    float* to[kMostRows];
#pragma omp for schedule(dynamic)
    for (Index job = jobs - 1; job >= 0; --job) {  // the longest first
      Index start = first + job * kMirrored, count = std::min(kMirrored, last - start);
      float* rows = out.data + start * out.stride;
      pack(count, [=](Index r) { return start + r; }, x.data(), halves);
      for (Index p = 0; p * kPanel < start + count; ++p) {
        Index column = p * kPanel;
        for (Index r = 0; r < count; r += height) {
          Index some = std::min(height, count - r);
          for (Index k = 0; k < some; ++k) to[k] = rows + (r + k) * out.stride + column;
          t.fill_rough({x.data() + r * features, halves + r, some, to}, panel(p));
        }
        if (column < start)
          t.mirror(rows + column, out.stride, count, kPanel, out.data + column * out.stride + start,
                   out.stride, true);
      }
    }
  }
}

void RoughRows::fill_lower(Index first, Index last, Output<float> out, int threads) const {
  auto row = [=](Index r) { return first + r; };
  fill_groups(last - first, row, row, [=](Index r) { return (first + r) / kPanel + 1; }, out, threads);
}

void RoughRows::fill_square(Index size, const Index* members, Index count, const Index* places,
                            Output<float> out, int threads) const {
  Index features = points_.features();
  std::vector<float> points(static_cast<std::size_t>(size * features));
  for (Index i = 0; i < size; ++i) {
    const float* from = points_.point(members[i]);
    for (Index k = 0; k < features; ++k) points[i * features + k] = from[k * kPanel];
  }
  RoughRows(points.data(), size, features).fill(count, places, places, out, threads);
}

void RoughRows::add_product(Index count, const Index* rows, const double* factors, double* out,
                            int threads) const {
  const Table& t = table();
  Index panels = points_.count(), height = t.rough_rows, features = points_.features();
  auto room = static_cast<std::size_t>((count + height - 1) / height * height);
  std::vector<float> x(room * static_cast<std::size_t>(features)), halves(room), weights(room);
  pack(count, [=](Index r) { return rows[r]; }, x.data(), halves.data());
  for (Index r = 0; r < count; ++r) weights[r] = static_cast<float>(factors[r]);
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (threads > 1)
  for (Index p = 0; p < panels; ++p) {
    double sums[kPanel] = {};
    RoughPanel columns = panel(p);
    for (Index r = 0; r < count; r += height)
      t.multiply_rough({x.data() + r * features, halves.data() + r, height, nullptr}, columns,
                       weights.data() + r, sums);
    for (Index c = 0; c < columns.columns; ++c) out[p * kPanel + c] += sums[c];
  }
}

}  // namespace mercer
