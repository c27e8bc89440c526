#include "runtime/metrics.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace ptxla::runtime {
namespace {

struct TimePart {
  const char* suffix;
  double nanoseconds;
  int width;
  int precision;
};

constexpr TimePart kTimeParts[] = {
    {"d", 86400e9, 2, 0}, {"h", 3600e9, 2, 0}, {"m", 60e9, 2, 0},
    {"s", 1e9, 2, 0},     {"ms", 1e6, 3, 0},   {"us", 1e3, 7, 3},
};

constexpr double kPercentiles[] = {0.01, 0.05, 0.1,  0.2, 0.5,
                                   0.8,  0.9,  0.95, 0.99};

}  // namespace

std::string FormatTime(double nanoseconds) {
  std::string out;
  for (const TimePart& part : kTimeParts) {
    const double count = nanoseconds / part.nanoseconds;
    const bool last = part.nanoseconds == 1e3;
    if (count < 1.0 && out.empty() && !last) continue;
    absl::StrAppendFormat(&out, "%0*.*f%s", part.width, part.precision, count,
                          part.suffix);
    nanoseconds -= std::floor(count) * part.nanoseconds;
  }
  return out;
}

std::string FormatBytes(double bytes) {
  constexpr const char* kSuffixes[] = {"B", "KB", "MB", "GB", "TB", "PB"};
  int suffix = 0;
  while (bytes >= 1024 && suffix < 5) {
    bytes /= 1024;
    ++suffix;
  }
  return absl::StrFormat("%.2f%s", bytes, kSuffixes[suffix]);
}

std::string FormatMetric(MetricKind kind, double value) {
  switch (kind) {
    case MetricKind::kTime:
      return FormatTime(value);
    case MetricKind::kBytes:
      return FormatBytes(value);
    case MetricKind::kValue:
      break;
  }
  return absl::StrFormat("%.2f", value);
}

void Metric::Add(Picoseconds at, double value) {
  if (ring_.size() < kMetricsRing) {
    ring_.push_back({at, value});
  } else {
    ring_[total_ % kMetricsRing] = {at, value};
  }
  ++total_;
  accumulator_ += value;
}

std::string Metric::Report(absl::string_view name) const {
  std::string out = absl::StrCat(
      "Metric: ", name, "\n  TotalSamples: ", total_,
      "\n  Accumulator: ", FormatMetric(kind_, accumulator_), "\n");
  double sum = 0;
  Picoseconds oldest = ring_[0].at, newest = ring_[0].at;
  std::vector<double> sorted;
  sorted.reserve(ring_.size());
  for (const Sample& s : ring_) {
    sum += s.value;
    oldest = std::min(oldest, s.at);
    newest = std::max(newest, s.at);
    sorted.push_back(s.value);
  }
  const double seconds = ToSeconds(newest - oldest);
  if (seconds > 0) {
    absl::StrAppend(&out, "  ValueRate: ", FormatMetric(kind_, sum / seconds),
                    " / second\n");
    absl::StrAppendFormat(&out, "  Rate: %g / second\n",
                          static_cast<double>(ring_.size()) / seconds);
  }
  std::sort(sorted.begin(), sorted.end());
  out += "  Percentiles: ";
  const char* separator = "";
  for (double p : kPercentiles) {
    const auto at = static_cast<size_t>(p * static_cast<double>(sorted.size()));
    absl::StrAppendFormat(&out, "%s%g%%=%s", separator, p * 100,
                          FormatMetric(kind_, sorted[at]));
    separator = "; ";
  }
  return out + "\n";
}

void MetricsArena::AddCounter(absl::string_view name, int64_t by) {
  const auto it = counters_.find(name);
  if (it == counters_.end()) {
    counters_.emplace(std::string(name), by);
  } else {
    it->second += by;
  }
}

void MetricsArena::AddSample(absl::string_view name, MetricKind kind,
                             Picoseconds at, double value) {
  auto it = metrics_.find(name);
  if (it == metrics_.end()) {
    it = metrics_.emplace(std::string(name), Metric(kind)).first;
  }
  it->second.Add(at, value);
}

int64_t MetricsArena::Counter(absl::string_view name) const {
  const auto it = counters_.find(name);
  return it == counters_.end() ? 0 : it->second;
}

std::string MetricsArena::Report() const {
  std::string out;
  for (const auto& [name, metric] : metrics_) {
    if (metric.total_samples() > 0) out += metric.Report(name);
  }
  for (const auto& [name, value] : counters_) {
    if (value <= 0) continue;
    absl::StrAppend(&out, "Counter: ", name, "\n  Value: ", value, "\n");
  }
  return out;
}

}  // namespace ptxla::runtime
