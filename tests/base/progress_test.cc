// The progress line: who waits sees what is done, who does not sees nothing.
#include "base/progress.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

#include "base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/subprocess.h"

namespace ptxla {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// A file that a reporter writes and the test reads meanwhile.
class Log {
 public:
  Log() : file_(std::fopen(path_.c_str(), "w")) {}
  ~Log() { std::fclose(file_); }

  std::FILE* file() const { return file_; }
  std::string Written() const { return *ReadFile(path_); }
  void AwaitLines(std::ptrdiff_t lines) const {
    while (true) {
      const std::string text = Written();
      if (std::count(text.begin(), text.end(), '\n') >= lines) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

 private:
  const testing::TemporaryFolder folder_;
  const std::string path_ = folder_.path() + "/log";
  std::FILE* const file_;
};

TEST(ProgressTest, AFileHasALineOfTheActivityThatBeganFirst) {
  const Log log;
  {
    const ProgressReporter reporter(log.file(), std::chrono::milliseconds(1));
    Activity outer("validating");
    outer.At(3, 80, "row 4");
    Activity inner("compiling");
    inner.At(1, 2);
    log.AwaitLines(2);
  }
  EXPECT_THAT(log.Written(),
              HasSubstr("... validating: 3 of 80, row 4 (0 s)\n"));
  EXPECT_THAT(log.Written(), ::testing::Not(HasSubstr("compiling")));
}

TEST(ProgressTest, WhatEndsBeforeTheFirstLineIsDueSaysNothing) {
  const Log log;
  {
    const ProgressReporter reporter(log.file(), std::chrono::hours(1));
    Activity("compiling").At(1, 2);
  }
  EXPECT_EQ(log.Written(), "");
}

TEST(ProgressTest, AnActivityMayOutliveItsReporter) {
  const Log log;
  {
    auto reporter = std::make_unique<ProgressReporter>(
        log.file(), std::chrono::milliseconds(1));
    Activity simulating("simulating");
    log.AwaitLines(1);
    reporter.reset();
    simulating.At(1, 2);
  }
  EXPECT_THAT(log.Written(), StartsWith("... simulating ("));
}

}  // namespace
}  // namespace ptxla
