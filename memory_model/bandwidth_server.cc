#include "memory_model/bandwidth_server.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace ptxla::memory {

int BandwidthServer::AddStream(double cap) {
  CHECK_LT(streams_.size(), kMaxStreams);
  CHECK(cap > 0 && cap <= 1);
  streams_.push_back(
      {std::max<int64_t>(1, static_cast<int64_t>(std::floor(cap * kFullRate))),
       0,
       {}});
  return static_cast<int>(streams_.size()) - 1;
}

int64_t BandwidthServer::Submit(Picoseconds now, int stream, Picoseconds work) {
  CHECK_GE(now, now_) << "a server must be asked in time order";
  CHECK(!NextCompletion().has_value() || *NextCompletion() >= now)
      << "advance the server before submitting";
  AdvanceTo(now, nullptr);
  Stream& s = streams_[stream];
  const int64_t id = next_job_++;
  s.jobs.push_back({id, work.count() * kFullRate});
  if (s.jobs.size() == 1) {
    ++active_;
    ShareRates();
  }
  return id;
}

void BandwidthServer::ShareRates() {
  // Water filling: streams capped below the equal share leave the rest to the
  // others.
  int64_t left = kFullRate;
  int open = 0;
  for (Stream& s : streams_) {
    s.rate = 0;
    if (!s.jobs.empty()) ++open;
  }
  while (open > 0) {
    const int64_t share = left / open;
    bool capped = false;
    for (Stream& s : streams_) {
      if (s.jobs.empty() || s.rate != 0 || s.cap > share) continue;
      s.rate = s.cap;
      left -= s.cap;
      --open;
      capped = true;
    }
    if (capped) continue;
    for (Stream& s : streams_) {
      if (!s.jobs.empty() && s.rate == 0) s.rate = std::max<int64_t>(1, share);
    }
    break;
  }
}

std::optional<Picoseconds> BandwidthServer::NextCompletion() const {
  if (active_ == 0) return std::nullopt;
  int64_t soonest = std::numeric_limits<int64_t>::max();
  for (const Stream& s : streams_) {
    if (s.jobs.empty()) continue;
    soonest = std::min(
        soonest,
        CeilOfRatio(std::max<int64_t>(0, s.jobs.front().left), s.rate));
  }
  return now_ + Picoseconds(soonest);
}

void BandwidthServer::AdvanceTo(Picoseconds now,
                                std::vector<Completion>* done) {
  CHECK_GE(now, now_) << "a server must be asked in time order";
  while (active_ > 0) {
    const Picoseconds next = *NextCompletion();
    const Picoseconds until = std::min(next, now);
    const int64_t dt = (until - now_).count();
    busy_ += until - now_;
    now_ = until;
    for (Stream& s : streams_) {
      if (!s.jobs.empty()) s.jobs.front().left -= dt * s.rate;
    }
    if (next > now || (next == now && done == nullptr)) break;
    for (Stream& s : streams_) {
      if (s.jobs.empty() || s.jobs.front().left > 0) continue;
      if (done != nullptr) done->push_back({s.jobs.front().id, now_});
      s.jobs.pop_front();
      if (s.jobs.empty()) --active_;
    }
    ShareRates();
  }
  now_ = now;
}

Picoseconds BandwidthServer::Backlog(int stream) const {
  int64_t units = 0;
  for (const Job& job : streams_[stream].jobs) {
    units += std::max<int64_t>(0, job.left);
  }
  return Picoseconds(CeilOfRatio(units, kFullRate));
}

}  // namespace ptxla::memory
