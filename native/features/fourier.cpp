#include "fourier.hpp"

#include <algorithm>

#include "../dispatch.hpp"
#include "../dot.hpp"

namespace mercer {

template <class T>
Status fourier_features(Dense<double> X, Dense<double> frequencies, const double* offsets, double scale,
                        Output<T> out, int threads) noexcept {
  const Tiles<T>& tiles = table().tiles<T>();
  const Index count = frequencies.data == nullptr ? X.cols : frequencies.rows;
  const Index down = (X.rows + kTileRows - 1) / kTileRows, across = (count + kTileCols - 1) / kTileCols;
  int failed = 0;
#pragma omp parallel num_threads(threads) if (threads > 1 && down * across > 1) reduction(| : failed)
  {
    double* cosines = scratch(3 * kRegister);
    failed |= cosines == nullptr;
    double *sines = cosines + kRegister, *products = sines + kRegister;
#pragma omp for schedule(dynamic)
    for (Index t = 0; t < down * across; ++t) {
      if (cosines == nullptr) continue;
      const Index i = t / across * kTileRows, rows = std::min(kTileRows, X.rows - i);
      const Index j = t % across * kTileCols, cols = std::min(kTileCols, count - j);
      Output<const double> phases{X.data + i * X.stride + j, X.stride};
      if (frequencies.data != nullptr) {
        dot(slice(X, i, rows), slice(frequencies, j, cols), Output<double>{products, kTileCols}, 1);
        phases = {products, kTileCols};
      }
      const bool paired = offsets == nullptr;
      table().fourier(phases.data, phases.stride, rows, cols, paired ? nullptr : offsets + j, scale, cosines,
                      paired ? sines : nullptr);
      tiles.stream.plain(cosines, rows, cols, slice(out, i, j));
      if (paired) tiles.stream.plain(sines, rows, cols, slice(out, i, count + j));
    }
  }
  return failed ? kOutOfMemory : kOk;
}

template Status fourier_features(Dense<double>, Dense<double>, const double*, double, Output<double>,
                                 int) noexcept;
template Status fourier_features(Dense<double>, Dense<double>, const double*, double, Output<float>,
                                 int) noexcept;

}  // namespace mercer
