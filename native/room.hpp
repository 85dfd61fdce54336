// Large arrays whose memory others have used before, where there is some: each new page costs more than what
// is written to it first.
//
// What is not used any more is kept, up to a limit, and marked so that the system takes it back as soon as
// anybody else needs it; where it cannot be marked, nothing is kept.  Large ones lie in pages as large as the
// system has, where it has such: addresses in few pages are found sooner.  What is never written to costs
// nothing, so that there may be room for more than is needed yet.
#pragma once

#include <cstddef>
#include <memory>

namespace mercer {

class Room {
 public:
  Room() = default;
  // At least so many bytes, which hold anything; throws std::bad_alloc.
  explicit Room(std::size_t bytes);

  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(memory_.get());
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<std::byte> memory_;  // copies share it
  std::size_t bytes_ = 0;
};

}  // namespace mercer
