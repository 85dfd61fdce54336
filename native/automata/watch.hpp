// Lets the caller look in on long work, and loops over many pieces of it on several threads.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "semirings.hpp"

namespace mercer::automata {

// What work throws once the caller has said that nobody waits for it any more.
struct Stopped : std::exception {};

class Watch {
 public:
  // `ask` is called now and then by the thread that made the watch; it returns whether to go on.
  explicit Watch(std::function<bool()> ask) : ask_(std::move(ask)) {}

  // Whether to stop.  Cheap enough for every some hundred operations.
  bool stopped() {
    if (stopped_.load(std::memory_order_relaxed)) return true;
    if (std::this_thread::get_id() != owner_ || ++calls_ % kCallsPerLook != 0) return false;
    auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(50)) return false;
    last_ = now;
    if (!ask_()) stopped_ = true;
    return stopped_;
  }
  void check() {
    if (stopped()) throw Stopped();
  }

 private:
  std::function<bool()> ask_;
  static constexpr unsigned kCallsPerLook = 16;  // the clock is slower than all else here
  unsigned calls_ = 0;
  std::atomic<bool> stopped_ = false;
  std::thread::id owner_ = std::this_thread::get_id();
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// Calls body(i, workspace) for i < count; every thread has a workspace of its own.  The first exception comes
// out here, and stops the others.
template <class Workspace, class Body>
void parallel_for(Index count, int threads, Watch& watch, Body&& body) {
  std::exception_ptr error;
  std::mutex mutex;
  std::atomic<bool> failed = false;
  auto fail = [&] {
    std::lock_guard<std::mutex> lock(mutex);
    if (!error) error = std::current_exception();
    failed = true;
  };
#pragma omp parallel num_threads(threads) if (threads > 1 && count > 1)
  {
    Workspace workspace;
#pragma omp for schedule(dynamic, 1)
    for (Index i = 0; i < count; ++i) {
      if (failed.load(std::memory_order_relaxed)) continue;
      try {
        watch.check();
        body(i, workspace);
      } catch (...) {
        fail();
      }
    }
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace mercer::automata
