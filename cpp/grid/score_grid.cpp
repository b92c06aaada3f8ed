#include "grid/score_grid.hpp"

#include <cstring>
#include <stdexcept>
#include <string>

#include "base/interner.hpp"
#include "grid/diagram.hpp"

namespace onetree {

namespace {

// Different zeros are the same number.
void add_bits(double number, std::vector<std::int32_t>& key) {
  const double canonical = number == 0 ? 0.0 : number;
  std::int32_t bits[2];
  std::memcpy(bits, &canonical, sizeof bits);
  key.insert(key.end(), bits, bits + 2);
}

// Where sums are at the ends of the diagram: their bits until all have been met, then the numbers of what they admit.
class ScoreEnds {
 public:
  static constexpr bool kBounds = false;

  ScoreEnds(const Ensemble& ensemble, int n_columns, const Admit& admit, Control& control)
      : ensemble_(ensemble), n_columns_(static_cast<std::size_t>(n_columns)), admit_(admit), control_(control) {}

  bool exact() const { return false; }
  std::int32_t end_of(std::span<const std::int32_t> leaves) {
    ensemble_.sums(leaves, sums_);
    key_.clear();
    for (const double sum : sums_) add_bits(sum, key_);
    const auto [end, is_new] = ends_.intern(key_);
    if (is_new && end % kEndsBetweenChecks == 0 && bytes() > static_cast<double>(control_.memory_limit))
      throw GridTooLarge("its distinct sums alone pass the memory limit");
    return end;
  }
  void close();
  std::int32_t number(std::int32_t end) const { return number_[end]; }
  int n_numbers() const { return static_cast<int>(least_.size() / n_columns_); }

  void hand_over(ScoreGrid& grid) {
    grid.n_columns = static_cast<int>(n_columns_);
    grid.least = std::move(least_);
    grid.most = std::move(most_);
  }

 private:
  static constexpr std::int32_t kEndsBetweenChecks = 1 << 12;

  // Also of what `admit` will be given and gives.
  double bytes() const {
    return static_cast<double>(ends_.bytes()) +
           static_cast<double>(ends_.size()) * static_cast<double>(8 * ensemble_.n_outputs + 32 * n_columns_);
  }

  const Ensemble& ensemble_;
  const std::size_t n_columns_;
  const Admit& admit_;
  Control& control_;
  Interner ends_;
  std::vector<double> sums_;
  std::vector<std::int32_t> key_;
  std::vector<std::int32_t> number_;  // per end
  std::vector<double> least_, most_;  // per number and column
};

void ScoreEnds::close() {
  const std::size_t n_ends = static_cast<std::size_t>(ends_.size());
  std::vector<double> sums(n_ends * ensemble_.n_outputs), least, most;
  for (std::size_t end = 0; end < n_ends; ++end) {
    const std::span<const std::int32_t> key = ends_.key(static_cast<std::int32_t>(end));
    std::memcpy(sums.data() + end * ensemble_.n_outputs, key.data(), key.size_bytes());
  }
  ends_ = Interner();
  control_.check("grid", -1, -1, static_cast<std::int64_t>(n_ends));
  admit_(sums, n_ends, least, most);
  if (least.size() != n_ends * n_columns_ || most.size() != least.size())
    throw std::invalid_argument("admit must give " + std::to_string(n_columns_) + " columns for each of " +
                                std::to_string(n_ends) + " rows");
  Interner admissions;
  for (std::size_t end = 0; end < n_ends; ++end) {
    key_.clear();
    for (std::size_t at = end * n_columns_; at < (end + 1) * n_columns_; ++at) {
      if (!(least[at] <= most[at])) throw std::invalid_argument("admit must not give NaN, nor an empty interval");
      add_bits(least[at], key_);
      add_bits(most[at], key_);
    }
    const auto [number, is_new] = admissions.intern(key_);
    number_.push_back(number);
    if (!is_new) continue;
    for (std::size_t at = end * n_columns_; at < (end + 1) * n_columns_; ++at) {
      least_.push_back(least[at] == 0 ? 0.0 : least[at]);
      most_.push_back(most[at] == 0 ? 0.0 : most[at]);
    }
  }
}

}  // namespace

ScoreGrid build_score_grid(const Ensemble& ensemble, int n_columns, const Admit& admit, Control& control,
                           std::size_t max_states) {
  if (n_columns < 1) throw std::invalid_argument("scores need at least one column");
  ScoreEnds ends(ensemble, n_columns, admit, control);
  const Diagram diagram(ensemble, ends, control, max_states);
  ScoreGrid grid;
  grid.axes = diagram.paint(grid.cells, [](std::int32_t number) { return static_cast<std::uint32_t>(number); });
  ends.hand_over(grid);
  return grid;
}

std::vector<double> distinct_sums(const Ensemble& ensemble, Control& control, std::size_t max_states) {
  std::vector<double> found;
  const Admit note = [&](std::span<const double> sums, std::size_t n_rows, std::vector<double>& least,
                         std::vector<double>& most) {
    found.assign(sums.begin(), sums.end());
    least.assign(n_rows, 0);  // everything is one admission: nothing more is to be known
    most = least;
  };
  ScoreEnds ends(ensemble, 1, note, control);
  const Diagram diagram(ensemble, ends, control, max_states);
  return found;
}

}  // namespace onetree
