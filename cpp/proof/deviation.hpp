// How far a number of a tree is from what the library returns, in real arithmetic.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace onetree::proof {

// The smallest double that is not below |leaf - number|, or with `relative` |leaf - number| / |number|. So it is at
// most a tolerance iff the real deviation is. Infinite if there is no such number.
inline double deviation(double leaf, double number, bool relative) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (leaf == number) return 0;
  if (relative) {
    if (number == 0) return kInfinity;
    int exponent = 0;
    number = std::frexp(number, &exponent);  // a quotient does not change if both are scaled
    const double scaled = std::ldexp(leaf, -exponent);
    const bool vanished = scaled == 0 && leaf != 0;  // next to nothing, but of its sign
    leaf = vanished ? std::copysign(std::numeric_limits<double>::denorm_min(), leaf) : scaled;
  }
  // The difference and its rounding error, which is a double as well.
  double distance = leaf - number;
  const double back = leaf - distance;
  double error = (leaf - (distance + back)) + (back - number);
  if (distance < 0) {
    distance = -distance;
    error = -error;
  }
  if (!(distance < kInfinity)) return kInfinity;
  if (!relative) return error > 0 ? std::nextafter(distance, kInfinity) : distance;
  const double size = std::abs(number);
  auto covers = [&](double quotient) {                // quotient * size >= distance + error
    const volatile double rounded = quotient * size;  // no compiler may fuse it with the difference
    const double product = rounded, of_product = std::fma(quotient, size, -product);
    const double open = product - distance;  // exact, since the two are neighbours
    const double errors = error - of_product, part = errors - error;
    const double of_errors = (error - (errors - part)) + (-of_product - part);
    return open > errors || (open == errors && of_errors <= 0);
  };
  double quotient = distance / size;
  if (!(quotient < 0x1p1000)) return kInfinity;
  while (!covers(quotient)) quotient = std::nextafter(quotient, kInfinity);
  while (quotient > 0 && covers(std::nextafter(quotient, 0.0))) quotient = std::nextafter(quotient, 0.0);
  return quotient;
}

// The largest deviation of any number between two bounds, which may be infinite.
inline double largest_deviation(double leaf, double low, double high, bool relative) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (!(low <= high)) return kInfinity;
  // Near zero a relative deviation is without bound, but for a leaf of zero, which is off by all of the number.
  if (relative && low <= 0 && high >= 0 && low < high) return leaf == 0 ? 1 : kInfinity;
  return std::max(deviation(leaf, low, relative), deviation(leaf, high, relative));
}

// The least deviation of any number between two bounds.
inline double least_deviation(double leaf, double low, double high, bool relative) {
  if (!(low <= high) || (low <= leaf && leaf <= high)) return 0;
  if (relative && low <= 0 && high >= 0) return 0;
  return std::min(deviation(leaf, low, relative), deviation(leaf, high, relative));
}

}  // namespace onetree::proof
