// What becomes of a finished tile: it is stored, stored transposed, or multiplied into vectors and forgotten.
#include "simd.hpp"
#include "tiles.hpp"
#include "transpose.hpp"

namespace mercer::MERCER_TILES {
namespace {

template <class T>
MERCER_INLINE void store_row(const double* from, Index count, T* to) {
  for (Index j = 0; j < count; ++j) to[j] = static_cast<T>(from[j]);
}

// Past the cache where whole lines are written: an output larger than the cache would first be read into it.
#if defined(__AVX512F__)
constexpr Index kLine = 64;
MERCER_INLINE void stream_line(const double* from, double* to) { _mm512_stream_pd(to, load(from)); }
MERCER_INLINE void stream_line(const double* from, float* to) {
  _mm256_stream_ps(to, _mm512_cvtpd_ps(load(from)));
  _mm256_stream_ps(to + 8, _mm512_cvtpd_ps(load(from + 8)));
}
MERCER_INLINE void finish_streams() { _mm_sfence(); }
#elif defined(__AVX__)
constexpr Index kLine = 64;
MERCER_INLINE void stream_line(const double* from, double* to) {
  _mm256_stream_pd(to, load(from));
  _mm256_stream_pd(to + 4, load(from + 4));
}
MERCER_INLINE void stream_line(const double* from, float* to) {
  for (int k = 0; k < 16; k += 4) _mm_stream_ps(to + k, _mm256_cvtpd_ps(load(from + k)));
}
MERCER_INLINE void finish_streams() { _mm_sfence(); }
#else
constexpr Index kLine = 1;  // stands for none
template <class T>
MERCER_INLINE void stream_line(const double*, T*) {}
MERCER_INLINE void finish_streams() {}
#endif

template <class T>
MERCER_INLINE void stream_row(const double* from, Index count, T* to) {
  if constexpr (kLine > 1) {
    constexpr Index each = kLine / static_cast<Index>(sizeof(T));
    auto beyond = static_cast<Index>(reinterpret_cast<std::uintptr_t>(to) % kLine / sizeof(T));
    Index head = beyond == 0 ? 0 : each - beyond, j = head < count ? head : count;
    store_row(from, j, to);
    for (; j + each <= count; j += each) stream_line(from + j, to + j);
    store_row(from + j, count - j, to + j);
  } else {
    store_row(from, count, to);
  }
}

template <class T>
void store_tile(const double* tile, Index rows, Index cols, Output<T> out) {
  for (Index i = 0; i < rows; ++i) store_row(tile + i * kTileCols, cols, out.data + i * out.stride);
}

template <class T>
void stream_tile(const double* tile, Index rows, Index cols, Output<T> out) {
  for (Index i = 0; i < rows; ++i) stream_row(tile + i * kTileCols, cols, out.data + i * out.stride);
  finish_streams();
}

template <class T>
void scatter_tile(const double* tile, Index rows, Index cols, Output<T> out, const Index* slots) {
  for (Index i = 0; i < rows; ++i) store_row(tile + i * kTileCols, cols, out.data + slots[i] * out.stride);
}

template <class T>
void stream_scattered(const double* tile, Index rows, Index cols, Output<T> out, const Index* slots) {
  for (Index i = 0; i < rows; ++i) stream_row(tile + i * kTileCols, cols, out.data + slots[i] * out.stride);
  finish_streams();
}

// kLanes x kLanes numbers, rows kTileCols apart, turned over.
MERCER_INLINE void transpose_block(const double* from, double* to, Index to_stride) {
  Vec rows[kLanes];
  for (int i = 0; i < kLanes; ++i) rows[i] = load(from + i * kTileCols);
  transpose(rows);
  for (int i = 0; i < kLanes; ++i) store(to + i * to_stride, rows[i]);
}

// Calls row(j, numbers) for the columns of a tile, kLanes of them turned over at a time.
template <class Row>
MERCER_INLINE void for_each_column(const double* tile, Index rows, Index cols, Row row) {
  alignas(64) double turned[kLanes * kTileRows];
  for (Index j = 0; j < cols; j += kLanes) {
    for (Index i = 0; i < rows; i += kLanes)  // registers have whole blocks
      transpose_block(tile + i * kTileCols + j, turned + i, kTileRows);
    for (Index k = 0; k < kLanes && j + k < cols; ++k) row(j + k, turned + k * kTileRows);
  }
}

template <class T>
void store_transposed(const double* tile, Index rows, Index cols, Output<T> out) {
  for_each_column(tile, rows, cols,
                  [=](Index j, const double* column) { store_row(column, rows, out.data + j * out.stride); });
}

template <class T>
void stream_transposed(const double* tile, Index rows, Index cols, Output<T> out) {
  for_each_column(tile, rows, cols, [=](Index j, const double* column) {
    stream_row(column, rows, out.data + j * out.stride);
  });
  finish_streams();
}

template <class T>
void fill_tiles(Tiles<T>& tiles) {
  tiles.store = {store_tile<T>, store_transposed<T>, scatter_tile<T>};
  tiles.stream = {stream_tile<T>, stream_transposed<T>, stream_scattered<T>};
}

MERCER_INLINE double sum_of_lanes(Vec a) {
  double lanes[kLanes], sum = 0.0;
  store(lanes, a);
  for (int l = 0; l < kLanes; ++l) sum += lanes[l];
  return sum;
}

// Rows whose sums are kept in registers, so that none waits for the one before.
#if defined(__AVX512F__)
constexpr int kTogether = 8;
#else
constexpr int kTogether = 4;
#endif

// Numbers of a tile that are multiplied: entry (r, k) is data[r * down + k * along].
struct Entries {
  const double* data;
  Index rows, count, down, along;
};

// out[r][c] += sum_k tile(r, k) V[k][c], for some rows and this number of vectors of columns
template <int rows, int vectors>
MERCER_INLINE void add_products(const Entries& tile, Index first, const double* V, Index width, double* out,
                                Index stride) {
  const double* at = tile.data + first * tile.down;
  Vec acc[rows][vectors] = {};
  for (Index k = 0; k < tile.count; ++k) {
    Vec other[vectors];
    for (int v = 0; v < vectors; ++v) other[v] = load(V + k * width + v * kLanes);
    for (int r = 0; r < rows; ++r) {
      Vec number = splat(at[r * tile.down + k * tile.along]);
      for (int v = 0; v < vectors; ++v) acc[r][v] = muladd(number, other[v], acc[r][v]);
    }
  }
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v) {
      double* to = out + (first + r) * stride + v * kLanes;
      store(to, load(to) + acc[r][v]);
    }
}

template <int vectors>
MERCER_INLINE void add_columns(const Entries& tile, const double* V, Index width, double* out, Index stride) {
  Index r = 0;
  for (; r + kTogether <= tile.rows; r += kTogether)
    add_products<kTogether, vectors>(tile, r, V, width, out, stride);
  for (; r < tile.rows; ++r) add_products<1, vectors>(tile, r, V, width, out, stride);
}

// The last columns, filled up with zeros.
template <int vectors>
void add_last(const Entries& tile, const double* V, Index count, Index width, double* out) {
  constexpr Index most = kTileRows > kTileCols ? kTileRows : kTileCols, padded = vectors * kLanes;
  double numbers[most * padded] = {}, sums[most * padded] = {};
  for (Index k = 0; k < tile.count; ++k)
    for (Index c = 0; c < count; ++c) numbers[k * padded + c] = V[k * width + c];
  add_columns<vectors>(tile, numbers, padded, sums, padded);
  for (Index r = 0; r < tile.rows; ++r)
    for (Index c = 0; c < count; ++c) out[r * width + c] += sums[r * padded + c];
}

void add_all(const Entries& tile, const double* V, Index width, double* out) {
  Index c = 0;
  for (; c + 2 * kLanes <= width; c += 2 * kLanes) add_columns<2>(tile, V + c, width, out + c, width);
  if (width - c == kLanes) return add_columns<1>(tile, V + c, width, out + c, width);
  if (width - c > kLanes) return add_last<2>(tile, V + c, width - c, width, out + c);
  if (width > c) add_last<1>(tile, V + c, width - c, width, out + c);
}

void multiply(const double* tile, Index rows, Index cols, const double* V, Index width, double* out) {
  if (width > 1) return add_all({tile, rows, cols, kTileCols, 1}, V, width, out);
  for (Index i = 0; i < rows; ++i) {
    const double* row = tile + i * kTileCols;
    Vec acc[4] = {};
    Index j = 0;
    for (; j + 4 * kLanes <= cols; j += 4 * kLanes)
      for (int v = 0; v < 4; ++v)
        acc[v] = muladd(load(row + j + v * kLanes), load(V + j + v * kLanes), acc[v]);
    double sum = sum_of_lanes((acc[0] + acc[1]) + (acc[2] + acc[3]));
    for (; j < cols; ++j) sum = muladd(row[j], V[j], sum);
    out[i] += sum;
  }
}

void multiply_transposed(const double* tile, Index rows, Index cols, const double* V, Index width,
                         double* out) {
  if (width > 1) return add_all({tile, cols, rows, 1, kTileCols}, V, width, out);
  Index j = 0;
  for (; j + 4 * kLanes <= cols; j += 4 * kLanes) {
    Vec acc[4] = {};
    for (Index i = 0; i < rows; ++i)
      for (int v = 0; v < 4; ++v)
        acc[v] = muladd(splat(V[i]), load(tile + i * kTileCols + j + v * kLanes), acc[v]);
    for (int v = 0; v < 4; ++v) store(out + j + v * kLanes, load(out + j + v * kLanes) + acc[v]);
  }
  for (; j < cols; ++j) {
    double sum = 0.0;
    for (Index i = 0; i < rows; ++i) sum = muladd(V[i], tile[i * kTileCols + j], sum);
    out[j] += sum;
  }
}

}  // namespace

void fill_sinks(Table& table) {
  fill_tiles(table.f64);
  fill_tiles(table.f32);
  table.multiply = multiply;
  table.multiply_transposed = multiply_transposed;
}

}  // namespace mercer::MERCER_TILES
