#include "cholesky.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "dispatch.hpp"

namespace mercer {
namespace {

// Rows that one thread takes at a time.
constexpr Index kRowsAtATime = 4 * kFactorRows;

// Numbers of a row that are packed at a time: those of a panel stay in the first cache.
constexpr Index kPart = 64;

// Products, numbers to read and numbers to pack that are worth another thread: on a busy machine, waiting for
// it may take as long as thousands of times this.
constexpr Index kManyProducts = 1 << 22, kManyNumbers = 1 << 18, kManyToPack = 1 << 17;

// Packs rows of a matrix as the columns of panels; columns beyond the last keep what is there.
FactorPanels pack(const float* from, Index stride, Index rows, Index depth, float* to, int threads) {
  Index panels = (rows + kPanel - 1) / kPanel, parts = (depth + kPart - 1) / kPart;
#pragma omp parallel for collapse(2) schedule(static) \
    num_threads(threads) if (threads > 1 && rows * depth > kManyToPack)
  for (Index p = 0; p < panels; ++p)
    for (Index part = 0; part < parts; ++part) {
      Index first = part * kPart, some = std::min(kPart, depth - first);
      table().mirror(from + p * kPanel * stride + first, stride, std::min(kPanel, rows - p * kPanel), some,
                     to + (p * depth + first) * kPanel, kPanel, false);
    }
  return {to, depth, rows};
}

// The same with the columns of a square.
FactorPanels pack_columns(const float* from, Index stride, Index size, float* to) {
  for (Index first = 0; first < size; first += kPanel)
    for (Index k = 0; k < size; ++k)
      std::copy_n(from + k * stride + first, std::min(kPanel, size - first),
                  to + (first * size + k * kPanel));
  return {to, size, size};
}

// A_RH - L_RB L_HB' for rows R of which `rows` is the first and H begins at `start`; and then, if there is
// an inverse, times its transpose.  Those of a job may begin with zeros, whole blocks of them.
void carry(const FactorPanels& before, const FactorPanels* inverse, Index start, float* rows, Index stride,
           Index count, int threads, const Index* zeros = nullptr) {
  const Table& t = table();
  Index jobs = (count + kRowsAtATime - 1) / kRowsAtATime;
  bool many = count * before.rows * (start + before.rows) > kManyProducts;
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (threads > 1 && many)
  for (Index job = 0; job < jobs; ++job) {
    Index first = job * kRowsAtATime, some = std::min(kRowsAtATime, count - first);
    Index from = zeros == nullptr ? 0 : zeros[job];
    if (from > start) continue;
    float* at = rows + first * stride;
    if (from < start) t.subtract_products(at, stride, some, from, before, at + start);
    if (inverse != nullptr) t.multiply_rows(at + start, stride, some, *inverse);
  }
}

// The factor of a block in its place, and the transpose of its inverse.
bool factor_block(float* A, Index stride, Index n, float* inverse) {
  float panels[kFactorBlock * kPanel], corner[kPanel * kPanel], by[kPanel * kPanel];
  std::fill_n(panels, kFactorBlock * kPanel, 0.0f);
  std::fill_n(by, kPanel * kPanel, 0.0f);
  std::fill_n(inverse, kFactorBlock * kFactorBlock, 0.0f);
  for (Index i = 0; i < n; ++i) inverse[i * kFactorBlock + i] = 1.0f;
  for (Index start = 0; start < n; start += kPanel) {
    Index width = std::min(kPanel, n - start), end = start + width;
    float* rows = A + start * stride;
    FactorPanels before = pack(rows, stride, width, start, panels, 1);
    carry(before, nullptr, start, rows, stride, width, 1);
    if (!table().factor_corner(rows + start, stride, width, corner)) return false;
    FactorPanels last = pack(corner, kPanel, width, width, by, 1);
    carry(before, &last, start, A + end * stride, stride, n - end, 1);
    carry(before, &last, start, inverse, kFactorBlock, end, 1);
  }
  return true;
}

// A block's part of x, times L_HH^-1 or, transposed, times L_HH^-T; `inverse` is L_HH^-T.
void apply(const float* inverse, Index width, bool transposed, float* x) {
  float result[kFactorBlock] = {};
  for (Index i = 0; i < width; ++i) {
    const float* row = inverse + i * kFactorBlock;
    if (transposed) {
      float sum = 0.0f;
      for (Index k = i; k < width; ++k) sum += row[k] * x[k];
      result[i] = sum;
    } else {
      for (Index k = i; k < width; ++k) result[k] += row[k] * x[i];
    }
  }
  std::copy_n(result, width, x);
}

// Room for the panels of a block of a matrix of n rows.
struct Panels {
  std::unique_ptr<float[]> before, inverse;

  explicit Panels(Index n)
      : before(std::make_unique<float[]>(static_cast<std::size_t>(kFactorBlock * n))),
        inverse(std::make_unique<float[]>(static_cast<std::size_t>(kFactorBlock * kFactorBlock))) {}
};

// Zeros that all of these rows begin with, in whole blocks.
Index leading_zeros(const float* rows, Index n, Index count) {
  Index zeros = n;
  for (Index r = 0; r < count && zeros > 0; ++r)
    zeros =
        std::find_if(rows + r * n, rows + r * n + zeros, [](float x) { return x != 0.0f; }) - (rows + r * n);
  return zeros / kFactorBlock * kFactorBlock;
}

}  // namespace

bool eliminate(float* A, Index n, Index first, Index last, float* inverses, int threads) {
  Panels panels(n);
  for (Index block = first; block < last; ++block) {
    Index start = block * kFactorBlock, width = std::min(kFactorBlock, n - start), end = start + width;
    float *rows = A + start * n, *inverse = inverses + block * kFactorBlock * kFactorBlock;
    FactorPanels before = pack(rows, n, width, start, panels.before.get(), threads);
    carry(before, nullptr, start, rows, n, width, threads);
    if (!factor_block(rows + start, n, width, inverse)) return false;
    FactorPanels by = pack_columns(inverse, kFactorBlock, width, panels.inverse.get());
    carry(before, &by, start, A + end * n, n, n - end, threads);
  }
  return true;
}

void solve_rows(const float* L, Index n, const float* inverses, float* rows, Index count, int threads) {
  Panels panels(n);
  std::vector<Index> zeros;
  for (Index first = 0; first < count; first += kRowsAtATime)
    zeros.push_back(leading_zeros(rows + first * n, n, std::min(kRowsAtATime, count - first)));
  for (Index start = 0; start < n; start += kFactorBlock, inverses += kFactorBlock * kFactorBlock) {
    Index width = std::min(kFactorBlock, n - start);
    FactorPanels before = pack(L + start * n, n, width, start, panels.before.get(), threads);
    FactorPanels by = pack_columns(inverses, kFactorBlock, width, panels.inverse.get());
    carry(before, &by, start, rows, n, count, threads, zeros.data());
  }
}

void solve_forward(const float* L, Index n, const float* inverses, float* rows, Index count, int threads) {
  const Table& t = table();
  for (Index start = 0; start < n; start += kFactorBlock, inverses += kFactorBlock * kFactorBlock) {
    Index width = std::min(kFactorBlock, n - start), jobs = (width + kRowsAtATime - 1) / kRowsAtATime;
#pragma omp parallel for schedule(static) \
    num_threads(threads) if (threads > 1 && width * start > kManyNumbers)
    for (Index job = 0; job < jobs; ++job) {
      Index first = start + job * kRowsAtATime, some = std::min(kRowsAtATime, start + width - first);
      for (float* x = rows; x < rows + count * n; x += n)  // what is read of L stays in cache
        t.subtract_dots(L + first * n, n, some, x, start, x + first);
    }
    for (float* x = rows; x < rows + count * n; x += n) apply(inverses, width, false, x + start);
  }
}

void solve_backward(const float* L, Index n, const float* inverses, float* x, int threads) {
  const Table& t = table();
  for (Index block = (n - 1) / kFactorBlock; block >= 0; --block) {
    Index start = block * kFactorBlock, width = std::min(kFactorBlock, n - start);
    apply(inverses + block * kFactorBlock * kFactorBlock, width, true, x + start);
    Index jobs = (start + kFactorBlock - 1) / kFactorBlock;
#pragma omp parallel for schedule(static) \
    num_threads(threads) if (threads > 1 && width * start > kManyNumbers)
    for (Index job = 0; job < jobs; ++job) {
      Index first = job * kFactorBlock, last = std::min(start, first + kFactorBlock);
      t.subtract_rows(L + start * n, n, width, x + start, first, last, x);
    }
  }
}

}  // namespace mercer
