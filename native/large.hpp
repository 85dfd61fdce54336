// Memory for one large array, in pages as large as the system has, where it has such: pages cost about as much
// as what is written to them for the first time, and addresses in few of them are found sooner.
#pragma once

#include <cstddef>
#include <memory>

namespace mercer {

struct ReleaseLarge {
  void operator()(void* memory) const noexcept;
};

// Room for so many bytes, which hold anything; throws std::bad_alloc.
void* allocate_large(std::size_t bytes);

template <class T>
using LargeArray = std::unique_ptr<T[], ReleaseLarge>;

template <class T>
LargeArray<T> make_large(std::size_t count) {
  return LargeArray<T>(static_cast<T*>(allocate_large(count * sizeof(T))));
}

}  // namespace mercer
