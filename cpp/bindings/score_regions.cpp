// Trees for scores where no grid can be listed, and what they would take.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "bindings/borrowed.hpp"
#include "bindings/borrowed_admit.hpp"
#include "region/estimate.hpp"
#include "region/score_bounds.hpp"
#include "solve/solve.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace onetree::python;

namespace {

// What Python's `Scoring` says, for as long as this object lives.
class BorrowedScoring {
 public:
  BorrowedScoring(nb::handle source, int n_outputs) : admit_(source.attr("admit")) {
    scoring_.n_columns = nb::cast<int>(source.attr("n_columns"));
    scoring_.admit = borrowed_admit(admit_, n_outputs);
    scoring_.is_bounded = nb::cast<bool>(source.attr("is_bounded"));
    scoring_.tolerance = nb::cast<double>(source.attr("tolerance"));
    scoring_.is_relative = nb::cast<bool>(source.attr("relative"));
    scoring_.float32 = nb::cast<bool>(source.attr("float32"));
    scoring_.keeps_class = nb::cast<bool>(source.attr("keep_class"));
    const nb::object response = source.attr("response");
    read_response(response, scoring_.response);
    scoring_.response.n_decisive = nb::cast<int>(response.attr("n_numbers"));
  }
  BorrowedScoring(const BorrowedScoring&) = delete;
  BorrowedScoring& operator=(const BorrowedScoring&) = delete;

  const onetree::Scoring& operator*() const { return scoring_; }

 private:
  nb::object admit_;
  onetree::Scoring scoring_;
};

onetree::Outcome score_heuristic(nb::handle ensemble, nb::handle scoring, onetree::Objective objective,
                                 double max_boxes, std::uint64_t seed, double time_limit, std::int64_t work_limit,
                                 double memory_limit, int n_threads, const nb::object& progress) {
  onetree::Control control;
  control.work_limit = work_limit;
  const BorrowedEnsemble borrowed(ensemble);
  const BorrowedScoring asked(scoring, (*borrowed).n_outputs);
  connect(control, progress, time_limit, memory_limit, n_threads);
  return run_released([&] { return onetree::score_heuristic(*borrowed, *asked, objective, max_boxes, seed, control); });
}

onetree::Estimate score_estimate(nb::handle ensemble, nb::handle scoring, onetree::Objective objective,
                                 double max_boxes, double seconds, std::uint64_t seed, const nb::object& progress) {
  onetree::Control control;
  const BorrowedEnsemble borrowed(ensemble);
  const BorrowedScoring asked(scoring, (*borrowed).n_outputs);
  connect(control, progress, 0, 0, 1);
  return run_released(
      [&] { return onetree::estimate(*borrowed, *asked, objective, max_boxes, seconds, seed, control); });
}

}  // namespace

#define SCORING "scoring: onetree.model.arrays.ScoringLike"

void bind_score_regions(nb::module_& module) {
  module.def("score_heuristic", &score_heuristic, "ensemble"_a, "scoring"_a, "objective"_a, "max_boxes"_a, "seed"_a,
             "time_limit"_a, "work_limit"_a, "memory_limit"_a, "n_threads"_a, "progress"_a.none(),
             nb::sig("def score_heuristic(" ENSEMBLE ", " SCORING
                     ", objective: Objective, max_boxes: float, seed: int, time_limit: float, work_limit: int, "
                     "memory_limit: float, n_threads: int, " PROGRESS ") -> Outcome"));
  module.def("score_estimate", &score_estimate, "ensemble"_a, "scoring"_a, "objective"_a, "max_boxes"_a, "seconds"_a,
             "seed"_a, "progress"_a.none(),
             nb::sig("def score_estimate(" ENSEMBLE ", " SCORING
                     ", objective: Objective, max_boxes: float, seconds: float, seed: int, " PROGRESS ") -> Estimate"));
}
