#include "model/combination.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace onetree {

namespace {

constexpr std::size_t kMostKnown = std::size_t{1} << 20;

Between widened(Between given, double by) {
  return {given.low - by, given.high + by};
}

double largest(const Between& given) {
  return std::max(std::abs(given.low), std::abs(given.high));
}

double interpolated(std::span<const double> x, std::span<const double> y, double at) {
  if (at <= x.front()) return y.front();
  if (at >= x.back()) return y.back();
  const std::size_t i = std::upper_bound(x.begin(), x.end(), at) - x.begin();
  return y[i - 1] + (y[i] - y[i - 1]) * ((at - x[i - 1]) / (x[i] - x[i - 1]));
}

// More than what rounding does to numbers that are too small for a float32 of full precision.
constexpr double kUnderflow = 1e-44;

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

using Inputs = std::vector<Between>;

void affine(const Operation& operation, const Inputs& in, std::vector<Between>& out) {
  const std::size_t n = in.size();
  const double* factor = operation.numbers.data();
  const double* added = factor + n * static_cast<std::size_t>(operation.n_results);
  for (int r = 0; r < operation.n_results; ++r, factor += n) {
    Between sum{added[r], added[r]};
    double magnitude = std::abs(added[r]);
    for (std::size_t i = 0; i < n; ++i) {
      if (factor[i] == 0) continue;
      sum.low += factor[i] * (factor[i] > 0 ? in[i].low : in[i].high);
      sum.high += factor[i] * (factor[i] > 0 ? in[i].high : in[i].low);
      magnitude += std::abs(factor[i]) * largest(in[i]);
    }
    out.push_back(widened(sum, operation.slack * magnitude));
  }
}

// The share is least where the own score is at its lowest and all others are at their highest.
void softmax(const Operation& operation, const Inputs& in, std::vector<Between>& out) {
  for (std::size_t k = 0; k < in.size(); ++k) {
    double most = 1, least = 1;  // of the sum of all exponentials, in units of the own one
    for (std::size_t j = 0; j < in.size(); ++j) {
      if (j == k) continue;
      most += std::exp(in[j].high - in[k].low);
      least += std::exp(in[j].low - in[k].high);
    }
    out.push_back(widened({1 / most, 1 / least}, operation.slack));
  }
}

// Shares of the sum; all are equal where the sum is zero.
void normalise(const Operation& operation, const Inputs& in, std::vector<Between>& out) {
  const double uniform = 1 / static_cast<double>(in.size());
  double lows = 0, highs = 0;
  for (const Between& each : in) {
    lows += std::max(each.low, 0.0);
    highs += std::max(each.high, 0.0);
  }
  for (const Between& each : in) {
    const double low = std::max(each.low, 0.0), high = std::max(each.high, 0.0);
    const double most = low + (highs - high), least = high + (lows - low);
    Between share{most > 0 ? low / most : 0, least > 0 ? high / least : 1};
    if (lows <= 0) share = {std::min(share.low, uniform), std::max(share.high, uniform)};
    out.push_back(widened(share, 4 * operation.slack));
  }
}

void winner(const Operation& operation, const Inputs& in, std::vector<Between>& out) {
  if (in.size() == 1) {
    const double cut = operation.numbers[0];
    const Between second{in[0].low > cut ? 1.0 : 0.0, in[0].high < cut ? 0.0 : 1.0};
    out.push_back({1 - second.high, 1 - second.low});
    out.push_back(second);
    return;
  }
  for (std::size_t k = 0; k < in.size(); ++k) {
    bool wins = true, loses = false;
    for (std::size_t j = 0; j < in.size(); ++j) {
      if (j == k) continue;
      wins = wins && in[k].low > in[j].high;
      loses = loses || in[k].high < in[j].low;
    }
    out.push_back({wins ? 1.0 : 0.0, loses ? 0.0 : 1.0});
  }
}

void apply(const Operation& operation, const Inputs& in, std::vector<Between>& out) {
  const std::span<const double> numbers(operation.numbers);
  switch (operation.kind) {
    case Operation::Kind::affine:
      affine(operation, in, out);
      return;
    case Operation::Kind::sigmoid:
      for (const Between& each : in)
        out.push_back(widened({sigmoid(numbers[0] * each.low), sigmoid(numbers[0] * each.high)}, operation.slack));
      return;
    case Operation::Kind::softmax:
      softmax(operation, in, out);
      return;
    case Operation::Kind::piecewise: {
      const auto x = numbers.first(numbers.size() / 2), y = numbers.last(numbers.size() / 2);
      const Between place = widened(in[0], operation.slack * largest(in[0]));
      const double size = std::max(std::abs(y.front()), std::abs(y.back()));
      out.push_back(widened({interpolated(x, y, place.low), interpolated(x, y, place.high)}, operation.slack * size));
      return;
    }
    case Operation::Kind::normalise:
      normalise(operation, in, out);
      return;
    case Operation::Kind::log:
      for (const Between& each : in) {
        const Between found{std::log(std::max(each.low, 0.0) + numbers[0]),
                            std::log(std::max(each.high, 0.0) + numbers[0])};
        out.push_back(widened(found, operation.slack * (1 + largest(found))));
      }
      return;
    case Operation::Kind::winner:
      winner(operation, in, out);
      return;
    case Operation::Kind::exp:
      for (const Between& each : in) {
        const Between found{std::exp(each.low), std::exp(each.high)};
        out.push_back(widened(found, operation.slack * found.high + kUnderflow));
      }
      return;
  }
}

}  // namespace

void Combination::run(std::vector<Between>& registers) const {
  Inputs in;
  for (const Operation& operation : operations) {
    in.clear();
    for (const std::int32_t each : operation.inputs) in.push_back(registers[each]);
    apply(operation, in, registers);
  }
}

void Combination::bounds(std::span<const Between> sums, std::vector<Between>& decisive) const {
  std::vector<Between> registers(sums.begin(), sums.end());
  run(registers);
  decisive.clear();
  if (n_decisive == 1) decisive.push_back({cut, cut});
  decisive.insert(decisive.end(), registers.end() - n_decisive, registers.end());
}

int Combination::clear_winner(std::span<const Between> decisive) const {
  std::size_t best = 0;
  for (std::size_t k = 1; k < decisive.size(); ++k)
    if (decisive[k].low > decisive[best].low) best = k;
  for (std::size_t k = 0; k < decisive.size(); ++k)
    if (k != best && !(decisive[best].low > decisive[k].high)) return -1;
  return static_cast<int>(best);
}

int Combination::decide(std::span<const double> sums) const {
  std::vector<Between> points, decisive;
  for (const double sum : sums) points.push_back({sum, sum});
  bounds(points, decisive);
  const int clear = clear_winner(decisive);
  if (clear >= 0) return clear;
  std::string key(reinterpret_cast<const char*>(sums.data()), sums.size_bytes());
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  const int answer = ask(sums);
  if (known_.size() >= kMostKnown) known_.clear();
  known_.emplace(std::move(key), answer);
  return answer;
}

int Combination::guess(std::span<const double> sums) const {
  std::vector<Between> points, decisive;
  for (const double sum : sums) points.push_back({sum, sum});
  bounds(points, decisive);
  auto middle = [](const Between& each) { return each.low + each.high; };
  const auto best = std::max_element(decisive.begin(), decisive.end(),
                                     [&](const Between& a, const Between& b) { return middle(a) < middle(b); });
  return static_cast<int>(best - decisive.begin());
}

}  // namespace onetree
