// Memory for one array after the other.  Large ones lie in pages as large as the system has, where it has
// such: each page costs as much as what is written to it first, and addresses in few pages are found sooner.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace mercer {

struct ReleaseRoom {
  std::align_val_t alignment{1};

  void operator()(std::byte* memory) const noexcept { ::operator delete(memory, alignment); }
};

class Room {
 public:
  Room() = default;
  // Holds anything; throws std::bad_alloc.
  explicit Room(std::size_t bytes);
  Room(Room&& other) noexcept : memory_(std::move(other.memory_)), bytes_(std::exchange(other.bytes_, 0)) {}
  Room& operator=(Room&& other) noexcept {
    memory_ = std::move(other.memory_);
    bytes_ = std::exchange(other.bytes_, 0);
    return *this;
  }

  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(memory_.get());
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::unique_ptr<std::byte[], ReleaseRoom> memory_;
  std::size_t bytes_ = 0;
};

}  // namespace mercer
