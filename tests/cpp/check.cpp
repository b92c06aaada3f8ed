// Runs every test, or those whose names are given; says which, and what failed. Ends with status 1 if any did.
#include "check.hpp"

#include <cstring>

namespace check {

namespace {

int n_failures = 0;

}  // namespace

std::vector<Test>& tests() {
  static std::vector<Test> all;
  return all;
}

bool add(const char* name, void (*body)()) {
  tests().push_back({name, body});
  return true;
}

void fail(const char* file, int line, const std::string& what) {
  constexpr int kMostShown = 20;
  if (++n_failures <= kMostShown) std::cerr << file << ':' << line << ": " << what << '\n';
}

}  // namespace check

int main(int argc, char** argv) {
  int n_failed = 0;
  for (const check::Test& test : check::tests()) {
    bool is_wanted = argc == 1;
    for (int i = 1; i < argc; ++i) is_wanted = is_wanted || std::strcmp(argv[i], test.name) == 0;
    if (!is_wanted) continue;
    check::n_failures = 0;
    test.body();
    std::cout << (check::n_failures == 0 ? "passed " : "FAILED ") << test.name << '\n';
    n_failed += check::n_failures > 0;
  }
  return n_failed > 0;
}
