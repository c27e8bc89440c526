// A memory or link whose rate is shared by demand, as a passive server: it has
// no clock of its own, every call says what time it is, and calls come in time
// order.
//
// Streams (a core's DMA queue, the prefetch queue, a collective) share the
// rate: each stream is first in first out; streams with work get equal rates,
// none above the cap of its job, and what one cannot use the others get. Times
// and work are integers in one unit of the caller's choice (picoseconds, ticks
// of a clock); work is the time that a job takes at full rate. All arithmetic
// is integer, so the result does not depend on when the server is asked, and
// equal situations at different times behave equally.
//
//   BandwidthServer hbm(2);
//   hbm.Submit(/*now=*/0, /*stream=*/0, /*work=*/100);
//   hbm.Submit(0, 1, 30);
//   hbm.AdvanceTo(60, &done);   // the job of stream 1 is done at 60
//   hbm.NextCompletion();       // 130: the job of stream 0
#ifndef PTXLA_MEMORY_MODEL_BANDWIDTH_SERVER_H_
#define PTXLA_MEMORY_MODEL_BANDWIDTH_SERVER_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace ptxla::memory {

class BandwidthServer {
 public:
  // The full rate in internal units per unit of time: divisible by 1 to 16, so
  // that equal shares are exact. At most kMaxStreams streams.
  static constexpr int64_t kFullRate = 720720;
  static constexpr int kMaxStreams = 16;

  // Internal units per unit of time of a job that gets `fraction` of the rate.
  static int64_t RateOf(double fraction);

  struct Completion {
    int64_t job = 0;
    int64_t time = 0;
  };

  explicit BandwidthServer(int streams);

  // Queues a job; `cap`, from RateOf, is the most of the rate that it can use.
  // CHECKs that `now` is not before an earlier call: a server asked out of
  // order would give wrong times silently. Returns the job's number; numbers
  // count up from 0.
  int64_t Submit(int64_t now, int stream, int64_t work,
                 int64_t cap = kFullRate);

  // Changes the cap of the job at the front of `stream` from `now` on. Must be
  // called as Submit is.
  void SetCap(int64_t now, int stream, int64_t cap);

  // The rates that streams with these caps get when all of them have work; 0
  // stands for a stream without work.
  static std::vector<int64_t> ShareOf(const std::vector<int64_t>& caps);

  // When the next job ends if nothing else arrives; nullopt when idle.
  std::optional<int64_t> NextCompletion() const {
    if (active_ == 0) return std::nullopt;
    return next_completion_;
  }

  // Appends the jobs that end at or before `now`, in order of time, then of
  // stream. Must be called up to the present before Submit.
  void AdvanceTo(int64_t now, std::vector<Completion>* done);

  int64_t now() const { return now_; }
  bool idle() const { return active_ == 0; }
  bool idle(int stream) const { return streams_[stream].jobs.empty(); }
  // Cap of the job that `stream` works on; 0 if it has none.
  int64_t CapOf(int stream) const {
    return idle(stream) ? 0 : streams_[stream].jobs.front().cap;
  }
  // Time during which any stream had work.
  int64_t busy() const { return busy_; }

 private:
  struct Job {
    int64_t id;
    int64_t left;  // kFullRate units
    int64_t cap;
  };
  struct Stream {
    int64_t rate = 0;
    std::deque<Job> jobs;
  };

  void ShareRates();

  std::vector<Stream> streams_;
  std::vector<int64_t> caps_;  // scratch
  int active_ = 0;
  int64_t next_job_ = 0;
  int64_t now_ = 0;
  int64_t next_completion_ = 0;  // if active_ > 0
  int64_t busy_ = 0;
};

}  // namespace ptxla::memory

#endif  // PTXLA_MEMORY_MODEL_BANDWIDTH_SERVER_H_
