// The bottom of the heuristic's tree: regions whose grids can be painted, each cut up on its own cells until a part is
// small enough for the table.
//
// What is made of a region depends on nothing but the region, so any number of threads gives the same trees.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "base/control.hpp"
#include "region/piece.hpp"
#include "region/region_ensemble.hpp"
#include "region/score_piece.hpp"
#include "tree/shared_tree.hpp"

namespace onetree {

template <typename Painter>
class Bottom {
 public:
  using Piece = typename Painter::Piece;

  // Steps, progress and threads are those of `control`.
  Bottom(Objective objective, Painter painter, SharedTree& shared, Control& control);

  struct Job {
    std::unique_ptr<const RegionEnsemble> region;
    double share;      // of the whole space, for progress
    double max_boxes;  // of parts that go to the table
  };
  struct Result {
    SharedTree::Id tree = -1;  // -1: the region has too many states to be painted
    std::vector<Axis> axes;    // of its grid
    bool is_cut = false;       // otherwise the table did it all
    double max_boxes = 0;      // of the table, at last: fewer where memory was short
  };
  // `held_bytes`: memory that is taken by others. Throws LimitReached and what `control` throws.
  std::vector<Result> run(std::vector<Job> jobs, std::size_t held_bytes);

  struct Progress {
    double settled = 0;   // share of the space
    double n_leaves = 0;  // of the tree that covers it, unfolded
    std::int64_t n_pieces = 0, n_grids = 0;
  };
  Progress progress();
  // What was found without a job; -1: a tree that is counted elsewhere.
  void settle(double share, SharedTree::Id tree);
  std::size_t peak_bytes() const { return peak_bytes_; }

 private:
  struct Join {  // a cut, until both of its sides are there
    Join* parent;
    bool is_above;
    std::size_t job;
    GridSplit split;
    SharedTree::Id side[2];
  };
  struct Task {
    std::size_t job = 0;
    std::unique_ptr<const RegionEnsemble> region;  // to be painted; otherwise there is a piece
    Piece piece;
    Join* parent = nullptr;
    bool is_above = false;
    double share = 1, max_boxes = 0;
  };

  void run_tasks();
  void work(Control& control, bool is_caller);
  bool next(Task& task, Control& control, bool is_caller);
  void do_task(Task& task, Control& control);
  void cut_or_solve(Task& task, Control& control);
  void solve(Task& task, Control& control);
  void finish(const Task& task, SharedTree::Id tree);
  void push(Task&& task);
  std::size_t bytes() const;

  const Objective objective_;
  const Painter painter_;
  SharedTree& shared_;
  Control& control_;
  Control own_;  // of the calling thread, while it does a task
  std::size_t held_bytes_ = 0, peak_bytes_ = 0;
  // For a table; the rest is for what grows beside it. Depends on what was there before the jobs, and so on no thread.
  std::size_t room_ = 0;
  std::atomic<bool> has_failed_{false};

  std::mutex mutex_;  // of all below, and of the shared tree
  std::condition_variable changed_;
  std::vector<Task> tasks_;  // the last one first
  std::vector<Task> large_;  // whose tables have all threads
  int n_running_ = 0;
  std::size_t task_bytes_ = 0;
  std::exception_ptr failure_;
  std::deque<Join> joins_;
  std::vector<Result> results_;
  Progress progress_;
  double splits_per_cell_ = 0.05;  // of tables before: a guess for the next
};

extern template class Bottom<ClassPainter>;
extern template class Bottom<ScorePainter>;

}  // namespace onetree
