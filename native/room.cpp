#include "room.hpp"

#if defined(__linux__)
#  include <sys/mman.h>
#endif

namespace mercer {
namespace {

// A large page of most systems, and a line of the cache.
constexpr std::size_t kLargePage = std::size_t{1} << 21, kLine = 64;

}  // namespace

Room::Room(std::size_t bytes) : bytes_(bytes) {
  ReleaseRoom release{std::align_val_t{bytes < kLargePage ? kLine : kLargePage}};
  memory_ = {static_cast<std::byte*>(::operator new(bytes, release.alignment)), release};
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  if (bytes >= kLargePage) madvise(memory_.get(), bytes, MADV_HUGEPAGE);  // a wish, which may be refused
#endif
}

}  // namespace mercer
