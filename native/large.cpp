#include "large.hpp"

#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace mercer {
namespace {

// A large page of most systems; smaller arrays would leave most of one unused.
constexpr std::size_t kLargePage = std::size_t{1} << 21;

constexpr std::align_val_t kAlignment{kLargePage};

}  // namespace

void ReleaseLarge::operator()(void* memory) const noexcept { ::operator delete(memory, kAlignment); }

void* allocate_large(std::size_t bytes) {
  void* memory = ::operator new(bytes, kAlignment);
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  if (bytes >= kLargePage) madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: if it is refused, nothing is lost
#endif
  return memory;
}

}  // namespace mercer
