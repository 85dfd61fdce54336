#include "grid.hpp"

namespace mercer {
namespace {

constexpr std::align_val_t kAlignment{64};
struct Release {
  void operator()(double* p) const noexcept { ::operator delete(p, kAlignment); }
};
thread_local std::unique_ptr<double, Release> kept;
thread_local Index kept_size = 0;

}  // namespace

double* scratch(Index doubles) noexcept {
  if (kept == nullptr || kept_size < doubles) {
    kept.reset();
    kept_size = 0;
    auto bytes = static_cast<std::size_t>(doubles > 0 ? doubles : 1) * sizeof(double);
    kept.reset(static_cast<double*>(::operator new(bytes, kAlignment, std::nothrow)));
    if (kept != nullptr) kept_size = doubles;
  }
  return kept.get();
}

}  // namespace mercer
