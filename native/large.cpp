#include "large.hpp"

#if defined(__linux__)
#  include <sys/mman.h>
#endif

namespace mercer {
namespace {

// A large page of most systems.
constexpr std::size_t kLargePage = std::size_t{1} << 21;

constexpr std::align_val_t kLine{64};

}  // namespace

std::unique_ptr<std::byte[], ReleaseLarge> allocate_large(std::size_t bytes) {
  ReleaseLarge release{bytes < kLargePage ? kLine : std::align_val_t{kLargePage}};
  auto* memory = static_cast<std::byte*>(::operator new(bytes, release.alignment));
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  if (bytes >= kLargePage) madvise(memory, bytes, MADV_HUGEPAGE);  // a wish, which may be refused
#endif
  return {memory, release};
}

}  // namespace mercer
