#include "region/bottom.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

namespace onetree {

namespace {

constexpr double kFewestBoxes = 1e3;     // a piece that does not even fit with so few is not cut up further
constexpr double kLargeBoxes = 1e7;      // of a table that is worth all threads
constexpr std::size_t kMostTables = 16;  // at once, of others, fit in the memory
constexpr double kBytesPerBox = 4;
constexpr std::chrono::milliseconds kNap{20};  // of the caller while others work

}  // namespace

template <typename Painter>
Bottom<Painter>::Bottom(Objective objective, Painter painter, SharedTree& shared, Control& control)
    : objective_(objective), painter_(std::move(painter)), shared_(shared), control_(control), own_(control) {}

template <typename Painter>
typename Bottom<Painter>::Progress Bottom<Painter>::progress() {
  const std::lock_guard lock(mutex_);
  return progress_;
}

template <typename Painter>
void Bottom<Painter>::settle(double share, SharedTree::Id tree) {
  const std::lock_guard lock(mutex_);
  progress_.settled += share;
  if (tree >= 0) progress_.n_leaves += shared_.n_leaves(tree);
}

template <typename Painter>
std::vector<typename Bottom<Painter>::Result> Bottom<Painter>::run(std::vector<Job> jobs, std::size_t held_bytes) {
  held_bytes_ = held_bytes;
  const std::size_t taken = held_bytes + shared_.bytes();
  room_ = control_.memory_limit > taken ? (control_.memory_limit - taken) / 4 * 3 : 0;
  results_.assign(jobs.size(), {});
  for (std::size_t job = jobs.size(); job-- > 0;) {  // the first one comes off the stack first
    Task task;
    task.job = job;
    task.region = std::move(jobs[job].region);
    task.share = jobs[job].share;
    task.max_boxes = results_[job].max_boxes = jobs[job].max_boxes;
    push(std::move(task));
  }
  while (!tasks_.empty()) {
    run_tasks();
    own_.n_threads = control_.n_threads;
    for (Task& task : std::exchange(large_, {})) {
      task_bytes_ -= task.piece.bytes();
      solve(task, own_);
    }
  }
  joins_.clear();
  return std::move(results_);
}

template <typename Painter>
void Bottom<Painter>::run_tasks() {
  std::vector<Control> controls;
  for (int thread = 1; thread < control_.n_threads; ++thread) controls.push_back(control_.beside());
  {
    std::vector<std::jthread> helpers;
    for (Control& each : controls) {
      each.n_threads = 1;
      each.report = [this](const ProgressReport&) { return has_failed_.load(); };
      helpers.emplace_back([this, &each] { work(each, false); });
    }
    own_.n_threads = 1;
    work(own_, true);
  }  // joins them
  for (const Control& each : controls) control_.add_work(each.work());
  if (failure_) std::rethrow_exception(failure_);
}

template <typename Painter>
void Bottom<Painter>::work(Control& control, bool is_caller) {
  try {
    for (Task task; next(task, control, is_caller); task = {}) {
      do_task(task, control);
      const std::lock_guard lock(mutex_);
      --n_running_;
      changed_.notify_all();
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
    has_failed_ = true;
    changed_.notify_all();
  }
}

// Waits until there is one; returns whether there is, and no thread has failed.
template <typename Painter>
bool Bottom<Painter>::next(Task& task, Control& control, bool is_caller) {
  std::unique_lock lock(mutex_);
  while (!failure_ && tasks_.empty() && n_running_ > 0) {
    if (!is_caller) {
      changed_.wait(lock);
      continue;
    }
    changed_.wait_for(lock, kNap);
    lock.unlock();
    control.check("heuristic", -1, -1, 0);
    lock.lock();
  }
  if (failure_ || tasks_.empty()) return false;
  task = std::move(tasks_.back());
  tasks_.pop_back();
  ++n_running_;
  task_bytes_ -= task.region ? task.region->bytes() : task.piece.bytes();
  return true;
}

template <typename Painter>
std::size_t Bottom<Painter>::bytes() const {
  return held_bytes_ + shared_.bytes() + task_bytes_ + joins_.size() * sizeof(Join);
}

template <typename Painter>
void Bottom<Painter>::push(Task&& task) {
  task_bytes_ += task.region ? task.region->bytes() : task.piece.bytes();
  tasks_.push_back(std::move(task));
}

template <typename Painter>
void Bottom<Painter>::finish(const Task& task, SharedTree::Id tree) {
  progress_.settled += task.share;
  progress_.n_leaves += shared_.n_leaves(tree);
  Join* join = task.parent;
  for (bool is_above = task.is_above; join != nullptr; is_above = join->is_above, join = join->parent) {
    join->side[is_above] = tree;
    if (join->side[!is_above] < 0) return;
    tree = painter_.join(shared_, join->split.feature, join->split.threshold, join->side[0], join->side[1]);
  }
  results_[task.job].tree = tree;
}

template <typename Painter>
void Bottom<Painter>::do_task(Task& task, Control& control) {
  control.check("heuristic", -1, -1, 0);
  if (task.region) {
    control.memory_limit = room_;
    std::optional<Piece> piece = painter_.painted(**task.region, control);
    if (!piece) return;
    task.region.reset();
    task.piece = *std::move(piece);
    const std::lock_guard lock(mutex_);
    results_[task.job].axes = task.piece.whole->axes;
  }
  cut_or_solve(task, control);
}

template <typename Painter>
void Bottom<Painter>::cut_or_solve(Task& task, Control& control) {
  const double boxes = boxes_of(task.piece);
  if (boxes <= task.max_boxes || task.piece.function.is_constant()) {
    const bool is_large = boxes > kLargeBoxes || boxes * kBytesPerBox * kMostTables > static_cast<double>(room_);
    if (!is_large) {
      solve(task, control);
      return;
    }
    const std::lock_guard lock(mutex_);
    task_bytes_ += task.piece.bytes();
    large_.push_back(std::move(task));
    return;
  }
  auto parts = cut_of(task.piece, [&] { control.check("heuristic", -1, -1, 0); });
  const std::lock_guard lock(mutex_);
  progress_.n_pieces += 1;
  results_[task.job].is_cut = true;
  joins_.push_back({task.parent, task.is_above, task.job, parts.split, {-1, -1}});
  for (const bool is_above : {true, false}) {
    Task side;
    side.job = task.job;
    side.piece = std::move(is_above ? parts.above : parts.below);
    side.parent = &joins_.back();
    side.is_above = is_above;
    side.share = task.share / 2;
    side.max_boxes = task.max_boxes;
    push(std::move(side));
  }
  changed_.notify_all();
}

template <typename Painter>
void Bottom<Painter>::solve(Task& task, Control& control) {
  // The limit holds for each table of the exact engine; two-stage objectives have two at once.
  const std::size_t n_tables = objective_ == Objective::kDepth || objective_ == Objective::kLeaves ? 1 : 2;
  const auto n_cells = static_cast<double>(task.piece.function.n_cells());
  std::int64_t expected;
  {
    const std::lock_guard lock(mutex_);
    const std::size_t taken = bytes();
    control.memory_limit =
        std::min(room_, control_.memory_limit > taken ? control_.memory_limit - taken : 0) / n_tables;
    expected = static_cast<std::int64_t>(splits_per_cell_ * n_cells);
  }
  FlatTree tree;
  std::size_t table_bytes = 0;
  try {
    tree = tree_of(task.piece, objective_, expected, control, &table_bytes);
  } catch (const LimitReached&) {
    if (control.time_is_up() || task.max_boxes < kFewestBoxes) throw;
    task.max_boxes /= 8;  // too much for the memory: the piece is cut up further
    const std::lock_guard lock(mutex_);
    results_[task.job].max_boxes = std::min(results_[task.job].max_boxes, task.max_boxes);
    push(std::move(task));
    changed_.notify_all();
    return;
  }
  const std::lock_guard lock(mutex_);
  progress_.n_grids += 1;
  progress_.n_pieces += 1;
  splits_per_cell_ += (static_cast<double>(tree.feature.size()) / 2 / n_cells - splits_per_cell_) / 8;
  finish(task, import_tree(task.piece, tree, shared_));
  peak_bytes_ = std::max(peak_bytes_, bytes() + table_bytes);
  if (bytes() > control_.memory_limit) throw LimitReached("memory");
}

template class Bottom<ClassPainter>;
template class Bottom<ScorePainter>;

}  // namespace onetree
