// Memory for one array.  A large one lies in pages as large as the system has, where it has such: each page
// costs as much as what is written to it first, and addresses in few pages are found sooner.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace mercer {

struct ReleaseLarge {
  std::align_val_t alignment{alignof(std::max_align_t)};

  void operator()(void* memory) const noexcept { ::operator delete(memory, alignment); }
};

template <class T>
using LargeArray = std::unique_ptr<T[], ReleaseLarge>;

// Room for so many bytes, which hold anything, and how to release it; throws std::bad_alloc.
std::unique_ptr<std::byte[], ReleaseLarge> allocate_large(std::size_t bytes);

template <class T>
LargeArray<T> make_large(std::size_t count) {
  auto bytes = allocate_large(count * sizeof(T));
  ReleaseLarge release = bytes.get_deleter();
  return {reinterpret_cast<T*>(bytes.release()), release};
}

}  // namespace mercer
