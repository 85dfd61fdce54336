#include "chebyshev.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace mercer {
namespace {

// Rows of one task: some hundred microseconds of work.
constexpr std::int64_t kRows = 1024;

// next = scale (M x - center x) - next,  sum += c next, for some rows.
template <int W>
void step(const SparseMatrix& m, double scale, double center, double c, const double* x, double* next,
          double* sum, std::int64_t first, std::int64_t last) {
  for (std::int64_t i = first; i < last; ++i) {
    const double* own = x + i * W;
    double total[W];
    for (int q = 0; q < W; ++q) total[q] = -center * own[q];
    for (std::int64_t a = m.starts[i]; a < m.starts[i + 1]; ++a) {
      const double weight = m.values[a];
      const double* other = x + static_cast<std::int64_t>(m.columns[a]) * W;
      for (int q = 0; q < W; ++q) total[q] += weight * other[q];
    }
    double *out = next + i * W, *to = sum + i * W;
    for (int q = 0; q < W; ++q) {
      const double value = scale * total[q] - out[q];
      out[q] = value;
      to[q] += c * value;
    }
  }
}

template <int W>
void run(const SparseMatrix& m, const Expansion& e, double* current, double* previous, double* sum,
         int threads, const Look& look) {
  using Clock = std::chrono::steady_clock;
  auto last = Clock::now();
  const std::int64_t tasks = (m.size + kRows - 1) / kRows;
  for (std::int64_t i = 0; i < m.size * W; ++i) {
    sum[i] = e.coefficients[0] * current[i];
    previous[i] = 0.0;
  }
  for (std::int64_t k = 1; k < e.count; ++k) {
    const double scale = (k == 1 ? 1.0 : 2.0) / e.radius;  // T_1 = A T_0
#ifdef _OPENMP
#  pragma omp parallel for schedule(dynamic) num_threads(threads) if (threads > 1 && tasks > 1)
#endif
    for (std::int64_t task = 0; task < tasks; ++task)
      step<W>(m, scale, e.center, e.coefficients[k], current, previous, sum, task * kRows,
              std::min(m.size, (task + 1) * kRows));
    std::swap(current, previous);
    if (Clock::now() - last > std::chrono::milliseconds(50)) {
      look();
      last = Clock::now();
    }
  }
}

using Run = void (*)(const SparseMatrix&, const Expansion&, double*, double*, double*, int, const Look&);

template <int... W>
Run run_of(int width, std::integer_sequence<int, W...>) {
  static constexpr Run runs[] = {run<W + 1>...};
  return runs[width - 1];
}

}  // namespace

void chebyshev(const SparseMatrix& matrix, const Expansion& expansion, int width, double* current,
               double* previous, double* sum, int threads, const Look& look) {
  Run chosen = run_of(width, std::make_integer_sequence<int, kMostColumns>{});
  chosen(matrix, expansion, current, previous, sum, threads, look);
}

}  // namespace mercer
