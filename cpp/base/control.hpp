// Limits and the caller's wish to stop, asked for often and cheap to ask.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>

namespace onetree {

struct ProgressReport {
  const char* phase;
  double elapsed;
  std::int64_t lower_bound;  // -1: unknown
  std::int64_t upper_bound;  // -1: unknown
  std::int64_t states;
  double fraction;  // -1: unknown
};

// The caller asked to stop (Ctrl-C, or an exception in its callback): unwinds to the language boundary.
struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};

// Not an answer but a limit: the engine that throws it has its bounds elsewhere.
struct LimitReached : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Control {
 public:
  using Clock = std::chrono::steady_clock;

  double time_limit = 0;                       // seconds; 0: none
  std::int64_t work_limit = 0;                 // steps, see work(); 0: none
  std::size_t memory_limit = ~std::size_t{0};  // bytes
  int n_threads = 1;
  double patience = 0;  // seconds: a table that is expected to take longer is not begun; 0: any
  std::int64_t known_lower = -1, known_upper = -1;  // reported by stages that have no bounds of their own
  // Returns true when the caller wants to stop. Called from the thread that called the engine.
  std::function<bool(const ProgressReport&)> report;
  double report_interval = 0.1;  // seconds between two reports, at least

  Control() : start_(Clock::now()) {}

  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  // Steps done so far, by all copies of this object: calls of check(), each after a region, a block of boxes or some
  // hundred states. One thread does the same steps on every machine, however fast it is.
  std::int64_t work() const { return *work_; }
  bool is_limited() const { return time_limit > 0 || work_limit > 0; }
  bool time_is_up() const {
    return *stop_requested_ || (time_limit > 0 && elapsed() >= time_limit) || (work_limit > 0 && *work_ >= work_limit);
  }
  // From now on time is up: engines end with what they have. Holds for all copies of this object.
  void request_stop() { *stop_requested_ = true; }

  // For another thread: the same limits, steps of its own, and nobody to report to.
  Control beside() const {
    Control copy = *this;
    copy.report = nullptr;
    copy.work_ = std::make_shared<std::int64_t>(0);
    return copy;
  }
  // Counts steps that were done elsewhere.
  void add_work(std::int64_t steps) { *work_ += steps; }

  // Reports if it is time to; throws Interrupted or LimitReached.
  void check(const char* phase, std::int64_t lower, std::int64_t upper, std::int64_t states, double fraction = -1) {
    const double now = elapsed();
    if (now >= last_report_ + report_interval) {
      last_report_ = now;
      if (lower < 0) lower = known_lower;
      if (upper < 0) upper = known_upper;
      if (report && report({phase, now, lower, upper, states, fraction})) throw Interrupted();
    }
    if (*stop_requested_) throw LimitReached("stop");
    if (time_limit > 0 && now >= time_limit) throw LimitReached("time");
    if (++*work_ >= work_limit && work_limit > 0) throw LimitReached("work");
  }

 private:
  Clock::time_point start_;
  double last_report_ = 0;
  std::shared_ptr<std::int64_t> work_ = std::make_shared<std::int64_t>(0);  // of the one thread that calls check()
  std::shared_ptr<std::atomic<bool>> stop_requested_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace onetree
