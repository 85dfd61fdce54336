#include "packed.hpp"

#include <algorithm>

#include "dispatch.hpp"

namespace mercer {
namespace {

// Two rows of tiles that meet; the first is the lower one.
struct Game {
  Index first, second;
};

// Of an even number of teams the last stays in its place, and the others move on around it by one place from
// round to round: after teams - 1 rounds of teams / 2 games everyone has met everyone.
Game game(Index teams, Index round, Index number) {
  Index others = teams - 1;
  Index a = number == 0 ? others : (round + number) % others;
  Index b = number == 0 ? round : (round + others - number) % others;
  return {std::max(a, b), std::min(a, b)};
}

const double* tile_at(const double* tiles, Index down, Index across) {
  return tiles + (down * (down + 1) / 2 + across) * kRegister;
}

// Copies of V and of the result without ragged ends.
struct Padded {
  Index width;
  double *V, *out;

  double* input(Index tile) const { return V + tile * kTileRows * width; }
  double* output(Index tile) const { return out + tile * kTileRows * width; }
};

// The rows of V that meet one row of tiles, with zeros around them, and a result of zero.
void enter(const Padded& p, Index tile, Index rows, Index width, Strided<const double> V) {
  double* to = p.input(tile);
  Index first = tile * kTileRows, count = std::min(kTileRows, rows - first);
  std::fill_n(p.output(tile), kTileRows * p.width, 0.0);
  std::fill_n(to, kTileRows * p.width, 0.0);
  for (Index c = 0; c < width; ++c)
    for (Index i = 0; i < count; ++i) to[i * p.width + c] = V.data[(first + i) * V.down + c * V.across];
}

void leave(const Padded& p, Index tile, Index rows, Index width, Strided<double> out) {
  const double* from = p.output(tile);
  Index first = tile * kTileRows, count = std::min(kTileRows, rows - first);
  for (Index c = 0; c < width; ++c)
    for (Index i = 0; i < count; ++i)
      out.data[(first + i) * out.down + c * out.across] = from[i * p.width + c];
}

}  // namespace

Status packed_product(const double* tiles, Index rows, Index width, Strided<const double> V,
                      Strided<double> out, int threads) noexcept {
  const Table& t = table();
  Index size = (rows + kTileRows - 1) / kTileRows, teams = size + size % 2;
  Index columns = (width + kPackedColumns - 1) / kPackedColumns * kPackedColumns;
  Index numbers = size * kTileRows * columns;
  if (numbers == 0) return kOk;
  double* work = scratch(2 * numbers);
  if (work == nullptr) return kOutOfMemory;
  Padded p{columns, work, work + numbers};
  threads = static_cast<int>(std::min<Index>(threads, teams / 2));
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
#pragma omp for schedule(static)
    for (Index i = 0; i < size; ++i) {
      enter(p, i, rows, width, V);
      t.multiply_square(tile_at(tiles, i, i), p.input(i), p.input(i), columns, p.output(i), p.output(i));
    }
    for (Index round = 0; round < teams - 1; ++round) {
#pragma omp for schedule(static)
      for (Index number = 0; number < teams / 2; ++number) {
        auto [i, j] = game(teams, round, number);
        if (i < size)  // with an odd number of rows of tiles one of them has nobody to meet
          t.multiply_below(tile_at(tiles, i, j), p.input(i), p.input(j), columns, p.output(i), p.output(j));
      }
    }
#pragma omp for schedule(static)
    for (Index i = 0; i < size; ++i) leave(p, i, rows, width, out);
  }
  return kOk;
}

}  // namespace mercer
