#include "base/progress.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "absl/strings/str_cat.h"

namespace ptxla {
namespace {

// How often a terminal's line is written anew, and how much of it is used.
constexpr std::chrono::milliseconds kRefresh(200);
constexpr size_t kColumns = 79;
constexpr char kEraseLine[] = "\r\033[K";

struct Activities {
  std::atomic<bool> wanted{false};
  std::mutex mutex;
  std::vector<Activity*> running;  // in the order in which they began
};

// Never destroyed: activities of other threads may outlive main.
Activities& All() {
  static auto& all = *new Activities;
  return all;
}

}  // namespace

Activity::Activity(absl::string_view what)
    : shown_(All().wanted.load(std::memory_order_relaxed)) {
  if (!shown_) return;
  what_ = std::string(what);
  const std::lock_guard<std::mutex> lock(All().mutex);
  All().running.push_back(this);
}

Activity::~Activity() {
  if (!shown_) return;
  const std::lock_guard<std::mutex> lock(All().mutex);
  auto& running = All().running;
  running.erase(std::find(running.begin(), running.end(), this));
}

void Activity::At(int64_t done, int64_t all, absl::string_view part) {
  if (!shown_) return;
  const std::lock_guard<std::mutex> lock(All().mutex);
  done_ = done;
  all_ = all;
  part_.assign(part.data(), part.size());
}

void Activity::OneMore(int64_t all, absl::string_view part) {
  if (!shown_) return;
  const std::lock_guard<std::mutex> lock(All().mutex);
  ++done_;
  all_ = all;
  part_.assign(part.data(), part.size());
}

ProgressReporter::ProgressReporter(std::FILE* out,
                                   std::chrono::milliseconds after)
    : out_(out),
      terminal_(isatty(fileno(out)) != 0),
      begin_(std::chrono::steady_clock::now()),
      after_(after) {
  All().wanted = true;
  thread_ = std::thread([this] { Run(); });
}

ProgressReporter::~ProgressReporter() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ended_ = true;
  }
  end_.notify_all();
  thread_.join();
  All().wanted = false;
}

std::string ProgressReporter::Line(
    std::chrono::steady_clock::duration elapsed) const {
  const std::lock_guard<std::mutex> lock(All().mutex);
  if (All().running.empty()) return "";
  const Activity& a = *All().running.front();
  std::string line = absl::StrCat("... ", a.what_);
  if (a.all_ > 0) absl::StrAppend(&line, ": ", a.done_, " of ", a.all_);
  if (!a.part_.empty()) absl::StrAppend(&line, ", ", a.part_);
  const std::string time = absl::StrCat(
      " (", std::chrono::duration_cast<std::chrono::seconds>(elapsed).count(),
      " s)");
  if (terminal_ && line.size() + time.size() > kColumns) {
    line.resize(kColumns - time.size());
  }
  return line + time;
}

void ProgressReporter::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  bool erase = false;
  for (auto due = begin_ + after_;
       !end_.wait_until(lock, due, [this] { return ended_; });) {
    const auto elapsed = std::chrono::steady_clock::now() - begin_;
    const std::string line = Line(elapsed);
    if (!line.empty()) {
      std::fputs(terminal_ ? absl::StrCat(kEraseLine, line).c_str()
                           : absl::StrCat(line, "\n").c_str(),
                 out_);
      std::fflush(out_);
      erase = terminal_;
    }
    due = terminal_ ? due + kRefresh : begin_ + 2 * (due - begin_);
  }
  if (erase) std::fputs(kEraseLine, out_);
  std::fflush(out_);
}

}  // namespace ptxla
