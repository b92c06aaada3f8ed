// Tasks in fronts: those of one front do not depend on each other, so any thread may do any of them, in any order, with
// the same result. A front begins when the one before is done.
#pragma once

#include <atomic>
#include <barrier>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

namespace onetree {

// `sizes`: tasks per front. Each thread calls `make_worker(tick)`, and what that returns with a front and a task of it,
// both by number. Tasks that take long call `tick()` now and then; it throws when some thread has failed. The thread
// that called tells the share of tasks done to `check`, which may throw.
template <typename Check, typename MakeWorker>
void do_fronts(const std::vector<std::size_t>& sizes, int n_threads, const Check& check,
               const MakeWorker& make_worker) {
  const auto n_tasks = static_cast<double>(std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}));
  std::atomic<std::size_t> n_done{0};
  std::atomic<std::size_t> next{0};
  std::atomic<bool> stop{false};
  std::mutex failing;
  std::exception_ptr failure;  // the first, of any thread
  struct Stopped {};
  auto tick = [&](bool caller) {
    if (stop) throw Stopped();
    if (caller) check(static_cast<double>(n_done) / n_tasks);
  };
  std::barrier meet(n_threads);
  auto run = [&](bool caller) {
    auto worker = make_worker(std::function<void()>([&tick, caller] { tick(caller); }));
    for (std::size_t front = 0; front < sizes.size(); ++front) {
      try {
        for (std::size_t task; (task = next++) < sizes[front]; ++n_done) {
          tick(caller);
          worker(front, task);
        }
      } catch (...) {
        const std::lock_guard lock(failing);
        if (!failure) failure = std::current_exception();
        stop = true;
      }
      meet.arrive_and_wait();
      if (stop) return;
      if (caller) next = 0;
      meet.arrive_and_wait();
    }
  };
  std::vector<std::jthread> helpers;
  for (int thread = 1; thread < n_threads; ++thread) helpers.emplace_back([&] { run(false); });
  run(true);
  helpers.clear();  // joins them
  if (failure) std::rethrow_exception(failure);
}

}  // namespace onetree
