// A parallel loop that Python can interrupt: the thread that called looks for signals now and then.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#ifdef _OPENMP
#  include <omp.h>
#endif

namespace mercer {

// Called in the thread that called; throws if the work is to end.
using Look = std::function<void()>;

// Thrown in other threads when the work has been given up.
struct Abandoned {};

class Watch {
 public:
  Watch(const Look* look, const std::atomic<bool>& stop) : look_(look), stop_(stop) {}

  // To be called every few milliseconds of work.
  void pause() {
    if (stop_.load(std::memory_order_relaxed)) throw Abandoned{};
    if (look_ == nullptr || Clock::now() - last_ < kInterval) return;
    (*look_)();
    last_ = Clock::now();
  }

  void wait_until(const std::function<bool()>& done) {
    while (!done()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      pause();
    }
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kInterval{50};
  const Look* look_;  // null in threads that must not call Python
  const std::atomic<bool>& stop_;
  Clock::time_point last_ = Clock::now();
};

// body(i, watch, scratch) for 0 <= i < count, each thread with a Scratch of its own, small i first.
template <class Scratch, class Body>
void watched_loop(std::int64_t count, int threads, const Look& look, Body body) {
  std::atomic<std::int64_t> next{0};
  std::atomic<int> working{0};
  std::atomic<bool> stop{false};
  std::exception_ptr error;
  std::mutex lock;
  auto guarded = [&](auto&& work) {
    try {
      work();
    } catch (const Abandoned&) {
    } catch (...) {
      std::lock_guard<std::mutex> hold(lock);
      if (!error) error = std::current_exception();
      stop = true;
    }
  };
  auto work = [&](Watch& watch) {
    ++working;
    guarded([&] {
      Scratch scratch;
      for (std::int64_t i; (i = next++) < count;) body(i, watch, scratch);
    });
    --working;
  };
  int used = static_cast<int>(count < threads ? count : threads);
#ifdef _OPENMP
#  pragma omp parallel num_threads(used > 1 ? used : 1) if (used > 1)
  {
    bool caller = omp_get_thread_num() == 0;
    Watch watch(caller ? &look : nullptr, stop);
    work(watch);
    if (caller) guarded([&] { watch.wait_until([&] { return working == 0; }); });
  }
#else
  (void)used;
  Watch watch(&look, stop);
  work(watch);
#endif
  if (error) std::rethrow_exception(error);
}

}  // namespace mercer
