#include "memory_model/bandwidth_server.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/units.h"

namespace ptxla::memory {

int64_t BandwidthServer::RateOf(double fraction) {
  CHECK(fraction > 0 && fraction <= 1) << fraction;
  return std::max<int64_t>(
      1, static_cast<int64_t>(std::floor(fraction * kFullRate)));
}

BandwidthServer::BandwidthServer(int streams) : streams_(streams) {
  CHECK(streams >= 1 && streams <= kMaxStreams);
}

int64_t BandwidthServer::Submit(int64_t now, int stream, int64_t work,
                                int64_t cap) {
  CHECK_GE(now, now_) << "a server must be asked in time order";
  CHECK(active_ == 0 || next_completion_ >= now)
      << "advance the server to the present before submitting";
  AdvanceTo(now, nullptr);
  Stream& s = streams_[stream];
  const int64_t id = next_job_++;
  s.jobs.push_back({id, work * kFullRate, cap});
  if (s.jobs.size() == 1) {
    ++active_;
    ShareRates();
  }
  return id;
}

void BandwidthServer::SetCap(int64_t now, int stream, int64_t cap) {
  AdvanceTo(now, nullptr);
  if (streams_[stream].jobs.empty()) return;
  streams_[stream].jobs.front().cap = cap;
  ShareRates();
}

std::vector<int64_t> BandwidthServer::ShareOf(
    const std::vector<int64_t>& caps) {
  // Water filling: jobs capped below the equal share leave the rest to others.
  std::vector<int64_t> rates(caps.size(), 0);
  int64_t left = kFullRate;
  int open = 0;
  for (int64_t cap : caps) open += cap > 0;
  while (open > 0) {
    const int64_t share = std::max<int64_t>(1, left / open);
    bool capped = false;
    for (size_t i = 0; i < caps.size(); ++i) {
      if (caps[i] == 0 || rates[i] != 0 || caps[i] > share) continue;
      rates[i] = caps[i];
      left -= caps[i];
      --open;
      capped = true;
    }
    if (capped) continue;
    for (size_t i = 0; i < caps.size(); ++i) {
      if (caps[i] > 0 && rates[i] == 0) rates[i] = share;
    }
    break;
  }
  return rates;
}

void BandwidthServer::ShareRates() {
  caps_.resize(streams_.size());
  for (size_t i = 0; i < streams_.size(); ++i) {
    caps_[i] = streams_[i].jobs.empty() ? 0 : streams_[i].jobs.front().cap;
  }
  const std::vector<int64_t> rates = ShareOf(caps_);
  // While the rates hold, so does the time of the next completion.
  int64_t soonest = std::numeric_limits<int64_t>::max();
  for (size_t i = 0; i < streams_.size(); ++i) {
    Stream& s = streams_[i];
    s.rate = rates[i];
    if (s.jobs.empty()) continue;
    const int64_t left = std::max<int64_t>(0, s.jobs.front().left);
    soonest = std::min(soonest, now_ + CeilOfRatio(left, s.rate));
  }
  next_completion_ = soonest;
}

void BandwidthServer::AdvanceTo(int64_t now, std::vector<Completion>* done) {
  CHECK_GE(now, now_) << "a server must be asked in time order";
  while (active_ > 0) {
    const int64_t next = next_completion_;
    const int64_t until = std::min(next, now);
    const int64_t dt = until - now_;
    busy_ += dt;
    now_ = until;
    for (Stream& s : streams_) {
      if (!s.jobs.empty()) s.jobs.front().left -= dt * s.rate;
    }
    if (next > now || done == nullptr) break;
    for (Stream& s : streams_) {
      if (s.jobs.empty() || s.jobs.front().left > 0) continue;
      done->push_back({s.jobs.front().id, now_});
      s.jobs.pop_front();
      if (s.jobs.empty()) --active_;
    }
    ShareRates();
  }
  now_ = now;
}

}  // namespace ptxla::memory
