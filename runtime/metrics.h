// The metrics of PyTorch/XLA: counters and sampled metrics, and the report in
// its byte format (names and arenas as torch_xla prints them).
//
//   MetricsArena lazy;
//   lazy.AddCounter("CachedCompile", 1);
//   lazy.AddSample("CompileTime", MetricKind::kTime, now, 2.37e9 /* ns */);
//   std::string text = lazy.Report();
//
// Format, from torch_xla/csrc/runtime/metrics.cpp and metrics_reader.cpp as
// observed in its output:
// - metrics by name, then counters by name; empty ones are left out;
// - a ring of 1024 samples; TotalSamples and Accumulator cover every sample,
//   the rest covers the ring;
// - ValueRate and Rate only where the ring spans more than no time;
// - percentile p is sorted[size_t(p * n)], without interpolation.
// Timestamps are simulated: the same run prints the same report.
#ifndef PTXLA_RUNTIME_METRICS_H_
#define PTXLA_RUNTIME_METRICS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/units.h"

namespace ptxla::runtime {

enum class MetricKind { kValue, kBytes, kTime };

// "02m57s694ms418.595us" from nanoseconds. Each part is rounded to nearest but
// taken off rounded down, so that a part shows one too many when half of it or
// more is below it: 59.9 s is "60s900ms000.000us". Reports in the wild have
// this property, and tools that read them undo it.
std::string FormatTime(double nanoseconds);
// "1.50KB"; divided by 1024 while at least 1024.
std::string FormatBytes(double bytes);
std::string FormatMetric(MetricKind kind, double value);

inline constexpr int kMetricsRing = 1024;

class Metric {
 public:
  explicit Metric(MetricKind kind) : kind_(kind) {}
  void Add(Picoseconds at, double value);

  int64_t total_samples() const { return total_; }
  std::string Report(absl::string_view name) const;

 private:
  struct Sample {
    Picoseconds at;
    double value = 0;
  };
  MetricKind kind_;
  int64_t total_ = 0;
  double accumulator_ = 0;
  std::vector<Sample> ring_;  // of total_ samples, the last kMetricsRing
};

class MetricsArena {
 public:
  void AddCounter(absl::string_view name, int64_t by = 1);
  // Times are in nanoseconds. A name keeps the kind it was first used with.
  void AddSample(absl::string_view name, MetricKind kind, Picoseconds at,
                 double value);

  // 0 for a counter that was never touched.
  int64_t Counter(absl::string_view name) const;

  std::string Report() const;

 private:
  std::map<std::string, int64_t, std::less<>> counters_;
  std::map<std::string, Metric, std::less<>> metrics_;
};

// The two arenas of a process; metrics_report() prints one after the other.
struct Metrics {
  MetricsArena lazy;     // IR, tracing, cache: TORCH_LAZY_*
  MetricsArena runtime;  // the computation client

  std::string Report() const { return lazy.Report() + runtime.Report(); }
};

}  // namespace ptxla::runtime

#endif  // PTXLA_RUNTIME_METRICS_H_
