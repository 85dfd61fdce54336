#include "room.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <vector>

#if defined(__unix__) || defined(__APPLE__)
#  include <sys/mman.h>
#endif

namespace mercer {
namespace {

// A large page of most systems, and a line of the cache.
constexpr std::size_t kLargePage = std::size_t{1} << 21, kLine = 64;

// Bytes that are kept at most, and how many times what is asked for may be given.
constexpr std::size_t kMostKept = std::size_t{1} << 29, kMostTimes = 4;

// More than any machine has addresses for.
constexpr std::size_t kMostBytes = ~std::size_t{0} >> 7;

struct Block {
  std::byte* memory;
  std::size_t bytes;
};

std::align_val_t alignment(std::size_t bytes) {
  return std::align_val_t{bytes < kLargePage ? kLine : kLargePage};
}

Block allocated(std::size_t bytes) {
  if (bytes > kMostBytes) throw std::bad_alloc();
  auto* memory = static_cast<std::byte*>(::operator new(bytes, alignment(bytes)));
#if defined(MADV_HUGEPAGE)
  if (bytes >= kLargePage) madvise(memory, bytes, MADV_HUGEPAGE);  // a wish, which may be refused
#endif
  return {memory, bytes};
}

void release(Block block) noexcept { ::operator delete(block.memory, alignment(block.bytes)); }

// Whether the system may take the pages back from now on, until they are written to again.
bool is_left_to_the_system([[maybe_unused]] Block block) noexcept {
#if defined(MADV_FREE)
  return block.bytes >= kLargePage &&
         madvise(block.memory, block.bytes / kLargePage * kLargePage, MADV_FREE) == 0;
#else
  return false;
#endif
}

// Blocks that nobody uses, the oldest first.  Nobody waits for it: in a process that was forked, the thread
// that holds the lock may be missing.
class Kept {
 public:
  // The smallest one that is large enough, but not far too large; none if there is none.
  Block take(std::size_t bytes) noexcept {
    std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return {};
    auto best = blocks_.end();
    for (auto at = blocks_.begin(); at != blocks_.end(); ++at)
      if (at->bytes >= bytes && at->bytes / kMostTimes <= bytes &&
          (best == blocks_.end() || at->bytes < best->bytes))
        best = at;
    if (best == blocks_.end()) return {};
    Block block = *best;
    blocks_.erase(best);
    bytes_ -= block.bytes;
    return block;
  }

  void put(Block block) noexcept {
    if (block.bytes <= kMostKept && is_left_to_the_system(block)) {
      std::unique_lock lock(mutex_, std::try_to_lock);
      if (lock && keeps(block)) return;
    }
    release(block);
  }

 private:
  bool keeps(Block block) noexcept try {
    blocks_.push_back(block);
    bytes_ += block.bytes;
    auto end = blocks_.begin();
    for (; bytes_ > kMostKept; ++end) bytes_ -= end->bytes, release(*end);
    blocks_.erase(blocks_.begin(), end);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }

  std::mutex mutex_;
  std::vector<Block> blocks_;
  std::size_t bytes_ = 0;
};

// Never destroyed: there may be rooms until the very end.
Kept& kept() {
  static auto* const all = new Kept;
  return *all;
}

}  // namespace

Room::Room(std::size_t bytes) {
  Block block = bytes < kLargePage ? Block{} : kept().take(bytes);
  if (block.memory == nullptr) block = allocated(bytes);
  bytes_ = block.bytes;
  memory_ = {block.memory, [block](std::byte*) { kept().put(block); }};
}

}  // namespace mercer
