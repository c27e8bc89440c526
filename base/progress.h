// A line for who waits: what the process is doing, once that takes long.
//
//   const ProgressReporter reporter(stderr);      // the command, once
//   Activity simulating("simulating bert");       // anywhere, on any thread
//   simulating.At(12, 80, "fusion.3");            // 12 of 80 are done
//
// Nothing is written in the first two seconds. Then a terminal has one line
// that is written over and goes away in the end; a file or a pipe has a line
// after 2, 4, 8 ... seconds:
//
//   ... simulating bert: 12 of 80, fusion.3 (4 s)
//
// The activity that began first is the one shown. Without a reporter an
// activity costs an atomic load.
#ifndef PTXLA_BASE_PROGRESS_H_
#define PTXLA_BASE_PROGRESS_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>

#include "absl/strings/string_view.h"

namespace ptxla {

class Activity {
 public:
  explicit Activity(absl::string_view what);
  ~Activity();
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;

  // `done` of `all` parts are done and `part` is next; it may be empty.
  void At(int64_t done, int64_t all, absl::string_view part = {});
  // One more is done, whichever thread did it.
  void OneMore(int64_t all, absl::string_view part = {});

 private:
  friend class ProgressReporter;
  const bool shown_;
  std::string what_, part_;
  int64_t done_ = 0, all_ = 0;
};

class ProgressReporter {
 public:
  // One at a time. `out` outlives it; `after` is when the first line comes.
  explicit ProgressReporter(std::FILE* out, std::chrono::milliseconds after =
                                                std::chrono::seconds(2));
  ~ProgressReporter();
  ProgressReporter(const ProgressReporter&) = delete;
  ProgressReporter& operator=(const ProgressReporter&) = delete;

 private:
  void Run();
  // Of the activity that began first; "" if there is none.
  std::string Line(std::chrono::steady_clock::duration elapsed) const;

  std::FILE* const out_;
  const bool terminal_;
  const std::chrono::steady_clock::time_point begin_;
  const std::chrono::milliseconds after_;
  std::mutex mutex_;
  std::condition_variable end_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace ptxla

#endif  // PTXLA_BASE_PROGRESS_H_
