#include "driver/assumed.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/strings/match.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/status.h"

namespace ptxla::driver {
namespace {

struct Candidate {
  std::string key;
  double value = 0;
  std::string unit;
  bool is_host = false;
  // The part of the step that the number can move.
  int64_t share_ps = 0;
};

// First-order estimate: the time that is bound by what the number describes.
int64_t Share(absl::string_view key, const record::BoundTimes& b) {
  if (absl::StartsWith(key, "hbm.") || absl::StartsWith(key, "dma.")) {
    return b.hbm_ps() + b.overhead_ps();
  }
  if (absl::StartsWith(key, "ici.")) return b.ici_ps();
  if (absl::StartsWith(key, "dcn.")) return b.dcn_ps();
  if (absl::StartsWith(key, "host.") || absl::StartsWith(key, "pcie.")) {
    return b.host_ps() + b.input_ps();
  }
  if (absl::StartsWith(key, "clock.") || absl::StartsWith(key, "core.") ||
      absl::StartsWith(key, "kernel.") || absl::StartsWith(key, "program.")) {
    return b.mxu_ps() + b.vpu_ps() + b.overhead_ps();
  }
  // Latencies, intervals, slots and compiler policies are in the bundles: they
  // move nothing unless the program is compiled again.
  return 0;
}

std::vector<Candidate> Candidates(const AssumedInputs& in) {
  std::vector<Candidate> list;
  for (const chips::Parameter* p : in.chip->Assumed()) {
    list.push_back(
        {p->key, p->written, p->unit, false, Share(p->key, in.bounds)});
  }
  if (in.host != nullptr) {
    for (const runtime::HostCosts::Number& n : in.host->numbers) {
      if (n.confidence != chips::ASSUMED ||
          absl::StartsWith(n.key, "compile.")) {
        continue;
      }
      list.push_back({n.key, n.value, n.unit, true, Share(n.key, in.bounds)});
    }
  }
  // What can move the step by less than 0.05 % is not worth a simulation.
  const int64_t least = in.step.count() / 400;
  list.erase(std::remove_if(list.begin(), list.end(),
                            [&](const Candidate& c) {
                              return c.share_ps == 0 || c.share_ps < least;
                            }),
             list.end());
  std::stable_sort(list.begin(), list.end(),
                   [](const Candidate& a, const Candidate& b) {
                     return a.share_ps > b.share_ps;
                   });
  if (list.size() > kAssumedSimulated) list.resize(kAssumedSimulated);
  return list;
}

absl::StatusOr<Picoseconds> Moved(const AssumedInputs& in, const Candidate& c,
                                  double factor) {
  if (c.is_host) {
    ASSIGN_OR_RETURN(const runtime::HostCosts host,
                     in.host->WithScaled(c.key, factor));
    return in.step_time(*in.chip, &host);
  }
  ASSIGN_OR_RETURN(const chips::ChipSpec chip,
                   in.chip->WithScaled(c.key, factor));
  return in.step_time(chip, in.host);
}

}  // namespace

absl::StatusOr<std::vector<record::AssumedRecord>> AssumedNumbers(
    const AssumedInputs& in) {
  const std::vector<Candidate> candidates = Candidates(in);
  const int n = static_cast<int>(candidates.size());
  std::vector<absl::StatusOr<Picoseconds>> steps(n);
  // Down: a rate or a fraction moves the step more that way than up, and a
  // fraction near 1 cannot go up; for times both ways are alike.
  Activity moving("moving assumed numbers");
  ParallelFor(n, ParallelWorkers(n), [&](int, int k) {
    moving.OneMore(n, candidates[k].key);
    steps[k] = Moved(in, candidates[k], 1 - kAssumedMove);
  });
  std::vector<record::AssumedRecord> list;
  for (int k = 0; k < n; ++k) {
    const Candidate& c = candidates[k];
    ASSIGN_OR_RETURN(const Picoseconds moved, std::move(steps[k]),
                     _ << "with " << c.key << " moved by 20 %");
    const int64_t effect = std::abs((moved - in.step).count());
    if (effect == 0) continue;
    record::AssumedRecord record;
    record.set_name(c.key);
    record.set_value(c.value);
    record.set_unit(c.unit);
    record.set_effect_ps(effect);
    list.push_back(std::move(record));
  }
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
    return a.effect_ps() > b.effect_ps();
  });
  return list;
}

}  // namespace ptxla::driver
