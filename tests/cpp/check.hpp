// Tests of the native core: what a test is, and what it checks. Small on purpose: no library is needed to build them.
#pragma once

#include <cstdint>
#include <iostream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace check {

struct Test {
  const char* name;
  void (*body)();
};

std::vector<Test>& tests();
bool add(const char* name, void (*body)());
void fail(const char* file, int line, const std::string& what);

template <typename A, typename B>
void equal(const A& a, const B& b, const char* text, const char* file, int line) {
  if (a == b) return;
  std::ostringstream what;
  what << text;
  if constexpr (requires { what << a << b; }) what << ": " << a << " is not " << b;
  fail(file, line, what.str());
}

// The same numbers on every machine and with every standard library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  int below(int n) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(n)); }

 private:
  std::mt19937_64 engine_;
};

}  // namespace check

// Names are sentences with underscores, as in Python.
#define TEST(name)                                               \
  static void name();                                            \
  static const bool name##_is_known = ::check::add(#name, name); \
  static void name()

#define CHECK(condition) \
  if (!(condition)) ::check::fail(__FILE__, __LINE__, #condition)

#define CHECK_EQUAL(a, b) ::check::equal((a), (b), #a " == " #b, __FILE__, __LINE__)
