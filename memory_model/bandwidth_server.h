// A memory or link whose rate is shared by demand, as a passive server: it has
// no clock of its own, every call says what time it is, and calls come in time
// order.
//
// Streams (a core's DMA queue, the prefetch queue, a collective) share the
// rate: each stream is first in first out; streams with work get equal rates,
// none above its cap, and what one cannot use the others get. Work is given in
// picoseconds at full rate. All arithmetic is integer, so the result does not
// depend on when the server is asked, and equal situations at different times
// behave equally.
//
//   BandwidthServer hbm;
//   int core = hbm.AddStream(), copy = hbm.AddStream();
//   hbm.Submit(Picoseconds(0), core, Picoseconds(100));
//   hbm.Submit(Picoseconds(0), copy, Picoseconds(30));
//   hbm.AdvanceTo(Picoseconds(60), &done);   // copy's job is done at 60
//   hbm.NextCompletion();                    // 130: core's job
#ifndef PTXLA_MEMORY_MODEL_BANDWIDTH_SERVER_H_
#define PTXLA_MEMORY_MODEL_BANDWIDTH_SERVER_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/units.h"

namespace ptxla::memory {

class BandwidthServer {
 public:
  // The full rate in internal units per picosecond: divisible by 1 to 16, so
  // that equal shares are exact. At most kMaxStreams streams.
  static constexpr int64_t kFullRate = 720720;
  static constexpr int kMaxStreams = 16;

  struct Completion {
    int64_t job = 0;
    Picoseconds time;
  };

  // `cap` in (0, 1]: the most of the full rate that the stream can use.
  int AddStream(double cap = 1);

  // Queues a job. CHECKs that `now` is not before an earlier call: a server
  // asked out of order gives wrong times silently. Returns the job's number;
  // numbers count up.
  int64_t Submit(Picoseconds now, int stream, Picoseconds work);

  // When the next job ends if nothing else arrives; nullopt when idle.
  std::optional<Picoseconds> NextCompletion() const;

  // Appends the jobs that end at or before `now`, in order of time, then of
  // stream.
  void AdvanceTo(Picoseconds now, std::vector<Completion>* done);

  Picoseconds now() const { return now_; }
  bool idle() const { return active_ == 0; }
  // Work that `stream` has left, in picoseconds at full rate, rounded up.
  Picoseconds Backlog(int stream) const;
  // Time during which any stream had work.
  Picoseconds busy() const { return busy_; }

 private:
  struct Job {
    int64_t id;
    int64_t left;  // kFullRate units
  };
  struct Stream {
    int64_t cap = kFullRate;
    int64_t rate = 0;
    std::deque<Job> jobs;
  };

  void ShareRates();

  std::vector<Stream> streams_;
  int active_ = 0;
  int64_t next_job_ = 0;
  Picoseconds now_, busy_;
};

}  // namespace ptxla::memory

#endif  // PTXLA_MEMORY_MODEL_BANDWIDTH_SERVER_H_
