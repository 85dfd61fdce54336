#include "program.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "dispatch.hpp"
#include "grid.hpp"

namespace mercer {
namespace {

// Elementwise steps run over this number of rows at a time, which stay in the first cache.
constexpr Index kStripRows = 8;

// Operations that are worth another thread.
constexpr double kWorthAThread = 1 << 16;

// Bytes of an output that does not stay in cache.
constexpr double kLarge = 1 << 25;

// Bytes of the smallest page of memory, at most.
constexpr Index kPage = 4096;

struct Place {
  Index i, rows, j, cols;  // rows i .. i + rows - 1 and columns j .. j + cols - 1 of the output
};

Place place(const Program& p, Index down, Index across) {
  Index i = down * p.edge, j = across * p.edge;
  return {i, std::min(p.edge, p.rows - i), j, std::min(p.edge, p.cols - j)};
}

Place lower_place(const Program& p, Index tile) {
  auto down = static_cast<Index>((std::sqrt(8.0 * static_cast<double>(tile) + 1.0) - 1.0) / 2.0);
  while (down * (down + 1) / 2 > tile) --down;
  while ((down + 1) * (down + 2) / 2 <= tile) ++down;
  return place(p, down, tile - down * (down + 1) / 2);
}

Index work_needed(const Program& p) {
  const Table& t = table();
  Index need = std::max({t.pairwise_work, t.all_subsets_work, kBitsWork});
  for (const Points& points : p.points)
    if (points.compressed()) need = std::max(need, t.columns_work);
  for (const Step& step : p.steps)
    if (step.op == kAnova) need = std::max(need, t.anova_work(step.count - p.points[step.b].cols - 1));
  return p.registers * kRegister + need;
}

template <class T>
void fill_points(const Program& p, const Step& step, Place at, double* target, double* work) {
  const Points& points = p.points[step.b];
  const Tiles<T>& tiles = table().tiles<T>();
  Dense<T> X{static_cast<const T*>(points.left.data) + at.i * points.cols, at.rows, points.cols, points.cols};
  Dense<T> Y{static_cast<const T*>(points.right.data) + at.j * points.cols, at.cols, points.cols,
             points.cols};
  if (step.op == kSqEuclidean && p.to_single) return tiles.fill_expanded_distances(X, Y, target, work);
  if (step.op <= kDot) return tiles.fill[step.op](X, Y, target, work);
  for (Index i = 0; i < at.rows; ++i) std::fill_n(target + i * kTileCols, kTileCols, 0.0);
  const double* weights = p.parameters.data() + step.first;
  Output<double> out{target, kTileCols};
  if (step.op == kAnova)
    tiles.fill_anova(X, Y, weights, weights + points.cols, step.count - points.cols - 1, out, work);
  else
    (step.op == kCauchy ? tiles.fill_cauchy : tiles.fill_all_subsets)(X, Y, weights, out, work);
}

template <class T, class I>
Csr<T, I> compressed(const Rows& rows, Index first, Index count) {
  return {static_cast<const T*>(rows.data), static_cast<const I*>(rows.indices),
          static_cast<const I*>(rows.indptr) + first, count};
}

template <class T, class I>
void fill_compressed(const Program& p, const Step& step, Place at, double* target, double* work) {
  const Points& points = p.points[step.b];
  table().tiles<T>().template csr<I>().fill[step.op](compressed<T, I>(points.left, at.i, at.rows),
                                                     compressed<T, I>(points.right, at.j, at.cols),
                                                     points.cols, target, work);
}

template <class T>
void fill_from_points(const Program& p, const Step& step, Place at, double* target, double* work) {
  const Points& points = p.points[step.b];
  if (!points.compressed())
    fill_points<T>(p, step, at, target, work);
  else if (points.wide)
    fill_compressed<T, std::int64_t>(p, step, at, target, work);
  else
    fill_compressed<T, std::int32_t>(p, step, at, target, work);
}

void fill_from_bits(const Program& p, const Step& step, Place at, double* target, double* work) {
  const Points& points = p.points[step.b];
  auto rows = [&](const Rows& from, Index first, Index count) {
    return BitRows{static_cast<const std::uint64_t*>(from.data) + first * points.words, count, points.words};
  };
  const Table& t = table();
  BitsFill fill = step.op == kDot ? t.fill_bits_dot : t.fill_bits_distances;
  fill(rows(points.left, at.i, at.rows), rows(points.right, at.j, at.cols), target, work);
}

void fill_opaque(Output<const double> from, Place at, double* target) {
  for (Index i = 0; i < at.rows; ++i) {
    const double* row = from.data + (at.i + i) * from.stride + at.j;
    double* to = target + i * kTileCols;
    std::copy_n(row, at.cols, to);
    std::fill(to + at.cols, to + kTileCols, 0.0);
  }
}

void fill_register(const Program& p, const Step& step, Place at, double* registers, double* work) {
  double* target = registers + step.target * kRegister;
  if (step.op == kOpaque)
    fill_opaque(p.opaque[step.b], at, target);
  else if (p.points[step.b].words > 0)
    fill_from_bits(p, step, at, target, work);
  else if (p.points[step.b].single)
    fill_from_points<float>(p, step, at, target, work);
  else
    fill_from_points<double>(p, step, at, target, work);
}

// The lower triangle of a tile on the diagonal, mirrored: steps such as (r_i a) c_j are symmetric up to
// rounding only.
void mirror(Index size, double* tile) {
  for (Index i = 0; i < size; ++i)
    for (Index j = i + 1; j < size; ++j) tile[i * kTileCols + j] = tile[j * kTileCols + i];
}

// Leaves the tile in register 0.  Returns kDone or the step whose check failed.
Index run_tile(const Program& p, Place at, double* registers) {
  const Table& t = table();
  double* work = registers + p.registers * kRegister;
  auto count = static_cast<Index>(p.steps.size());
  bool diagonal = p.symmetric && at.i == at.j;
  std::size_t vectors = p.rowwise.size();
  const double *rowwise[kMostVectors], *colwise[kMostVectors];
  for (std::size_t v = 0; v < vectors; ++v) colwise[v] = p.colwise[v] + at.j;
  for (Index s = 0; s < count;) {
    if (p.steps[s].op < kFillCount) {
      fill_register(p, p.steps[s++], at, registers, work);
      continue;
    }
    Index end = s;
    while (end < count && p.steps[end].op >= kFillCount) ++end;
    for (Index i = 0; i < at.rows; i += kStripRows) {
      for (std::size_t v = 0; v < vectors; ++v) rowwise[v] = p.rowwise[v] + at.i + i;
      Strip strip{registers + i * kTileCols,
                  std::min(kStripRows, at.rows - i),
                  at.cols,
                  p.parameters.data(),
                  rowwise,
                  colwise,
                  diagonal ? i : -1};
      for (Index k = s; k < end; ++k)
        if (!t.steps[p.steps[k].op - kFillCount](p.steps[k], strip)) return k;
    }
    s = end;
  }
  if (diagonal) mirror(at.rows, registers);
  return kDone;
}

Place numbered_place(const Program& p, Index tile) {
  Index across = p.tiles_across();
  return p.symmetric ? lower_place(p, tile) : place(p, tile / across, tile % across);
}

// Asks for the memory of the rows that tiles first .. last - 1 are the first to write to, each thread for
// some rows: threads that come upon a new page together while they store tiles all clear one.
template <class T>
void touch_rows(const Program& p, Index first, Index last, Output<T> out) {
  Place start = numbered_place(p, first), end = numbered_place(p, last - 1);
  Index from = start.j == 0 ? start.i : start.i + start.rows, to = end.i + end.rows;
#pragma omp for schedule(static)
  for (Index i = from; i < to; ++i)
    for (Index j = 0; j < p.cols; j += kPage / static_cast<Index>(sizeof(T)))
      out.data[i * out.stride + j] = T{};
}

int worthwhile(const Program& p, Index tiles, int threads) {
  double numbers = static_cast<double>(tiles) * static_cast<double>(p.edge * p.edge);
  double most = std::min(numbers * p.cost / kWorthAThread, static_cast<double>(tiles));
  return most < 1.0 ? 1 : std::min(threads, static_cast<int>(std::min(most, 1e6)));
}

// Calls store(t, place, values) for each of the tiles, after touch(), which every thread enters.  Returns
// kDone, kNoMemory or the step whose check failed.
template <class Touch, class Store>
Index run_tiles(const Program& p, Index first, Index last, int threads, const Touch& touch,
                const Store& store) noexcept {
  Index need = work_needed(p);
  threads = worthwhile(p, last - first, threads);
  std::atomic<Index> status{kDone};
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    double* registers = scratch(need);
    if (registers == nullptr) status = kNoMemory;
    touch();
#pragma omp for schedule(dynamic)
    for (Index t = first; t < last; ++t) {
      if (status.load(std::memory_order_relaxed) != kDone) continue;
      Place at = numbered_place(p, t);
      Index end = run_tile(p, at, registers);
      if (end == kDone)
        store(t, at, registers);
      else
        status = end;
    }
  }
  return status;
}

}  // namespace

template <class T>
Index run_dense(const Program& p, Index first, Index last, Output<T> out, const Index* slots,
                int threads) noexcept {
  const Tiles<T>& tiles = table().tiles<T>();
  bool large = static_cast<double>(p.rows) * static_cast<double>(p.cols) * sizeof(T) > kLarge;
  const Stores<T>& store = large ? tiles.stream : tiles.store;
  auto touch = [&] {
    if (large && slots == nullptr && last > first) touch_rows(p, first, last, out);
  };
  return run_tiles(p, first, last, threads, touch, [&](Index, Place at, const double* values) {
    if (slots != nullptr) return store.scattered(values, at.rows, at.cols, slice(out, 0, at.j), slots + at.i);
    store.plain(values, at.rows, at.cols, slice(out, at.i, at.j));
    if (p.symmetric && at.i != at.j) store.transposed(values, at.rows, at.cols, slice(out, at.j, at.i));
  });
}

template Index run_dense(const Program&, Index, Index, Output<double>, const Index*, int) noexcept;
template Index run_dense(const Program&, Index, Index, Output<float>, const Index*, int) noexcept;

Index run_packed(const Program& p, Index first, Index last, double* out, int threads) noexcept {
  const StoreTile<double> stream = table().f64.stream.plain;
  auto touch = [&] {
#pragma omp for schedule(static)
    for (Index k = first * kRegister; k < last * kRegister; k += kPage / static_cast<Index>(sizeof(double)))
      out[k] = 0.0;
  };
  return run_tiles(p, first, last, threads, touch, [&](Index t, Place at, const double* values) {
    double* tile = out + t * kRegister;
    if (at.rows < kTileRows || at.cols < kTileCols) std::fill_n(tile, kRegister, 0.0);
    stream(values, at.rows, at.cols, {tile, kTileCols});
  });
}

Index run_product(const Program& p, const std::vector<Index>& lanes, Index parts, bool half, Index first,
                  Index last, const double* V, Index width, double* sums, int threads) noexcept {
  const Table& t = table();
  Index need = work_needed(p), count = (static_cast<Index>(lanes.size()) - 1) * parts;
  threads = std::min<int>(worthwhile(p, count * (last - first), threads), static_cast<int>(count));
  std::atomic<Index> status{kDone};
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    double* registers = scratch(need);
    if (registers == nullptr) status = kNoMemory;
#pragma omp for schedule(dynamic)
    for (Index job = 0; job < count; ++job) {
      Index lane = job / parts, part = job % parts, position = 0;
      double* mine = sums + (half ? lane : part) * p.rows * width;
      for (Index down = lanes[lane]; down < lanes[lane + 1]; ++down) {
        Index whole = half ? down + 1 : p.tiles_across();
        Index left = part * whole / parts, across = (part + 1) * whole / parts - left;
        Index from = std::max<Index>(first - position, 0), to = std::min(last - position, across);
        for (Index a = left + from; a < left + to && status.load(std::memory_order_relaxed) == kDone; ++a) {
          Place at = place(p, down, a);
          Index end = run_tile(p, at, registers);
          if (end != kDone) {
            status = end;
            break;
          }
          t.multiply(registers, at.rows, at.cols, V + at.j * width, width, mine + at.i * width);
          if (half && at.i != at.j)
            t.multiply_transposed(registers, at.rows, at.cols, V + at.i * width, width, mine + at.j * width);
        }
        position += across;
      }
    }
  }
  return status;
}

}  // namespace mercer
