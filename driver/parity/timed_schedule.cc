#include "driver/parity/timed_schedule.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "driver/parity/schedule_facts.h"
#include "driver/stage.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/scheduled/part_names.h"
#include "hlo_backend/passes/scheduled/unschedule.h"
#include "sim/simulator.h"

namespace ptxla::driver {
namespace {

using hlo::Instruction;
using hlo::Opcode;
using ByName = absl::flat_hash_map<absl::string_view, const Instruction*>;

ByName InstructionsOf(const hlo::Module& module) {
  ByName by_name;
  for (const hlo::Computation* c : module.computations()) {
    if (c->IsFusionComputation()) continue;
    for (const Instruction* i : c->instructions()) by_name[i->name()] = i;
  }
  return by_name;
}

// "(f32[8], s32[8], ...)": no more than two.
std::string ResultText(const hlo::Shape& shape) {
  constexpr int kShown = 2;
  if (!shape.IsTuple()) return shape.ToString();
  std::string text = "(";
  const int count = shape.element_count_of_tuple();
  for (int k = 0; k < std::min(count, kShown); ++k) {
    text += (k > 0 ? ", " : "") + shape.element(k).ToString();
  }
  return text + (count > kShown ? ", ...)" : ")");
}

// The first of both, or null.
const Instruction* Find(const ByName& first, const ByName& second,
                        absl::string_view name) {
  const auto found = first.find(name);
  if (found != first.end()) return found->second;
  const auto other = second.find(name);
  return other == second.end() ? nullptr : other->second;
}

class Collector {
 public:
  // `given`: names of the schedule as it was handed in; `made`: as it ran.
  Collector(ByName given, ByName made, TimedSchedule* out)
      : given_(std::move(given)), made_(std::move(made)), out_(out) {}

  void Take(const record::OpTrace& op) {
    const int64_t times = std::max<int64_t>(1, op.repeat());
    const int64_t time = (op.end_ps() - op.start_ps()) * times;
    const Instruction* i = op.kernel().empty() ? nullptr : Whole(op.name());
    if (i == nullptr) {
      out_->others_ps[op.opcode()] += time;
      return;
    }
    const auto [at, is_new] = index_.try_emplace(i, out_->kernels.size());
    if (is_new) Add(*i);
    TimedKernel& k = out_->kernels[at->second];
    k.time_ps += time;
    std::vector<std::string>& parts = parts_[at->second];
    if (std::find(parts.begin(), parts.end(), op.name()) == parts.end()) {
      parts.push_back(op.name());
      k.parts = static_cast<int>(parts.size());
    }
    if (op.name() == parts[0]) k.executions += times;
  }

 private:
  // The instruction of the schedule that an op is, or is part of.
  const Instruction* Whole(const std::string& name) const {
    if (given_.empty()) return Find(made_, given_, name);
    const Instruction* whole = Find(given_, made_, hlo::WholeName(name));
    return whole != nullptr ? whole : Find(made_, given_, name);
  }

  void Add(const Instruction& i) {
    TimedKernel k;
    k.facts = FactsOf(i);
    k.facts.root = WorkOf(i);
    k.result = ResultText(i.shape());
    k.estimated_cycles = EstimatedCycles(i);
    out_->kernels.push_back(std::move(k));
    parts_.emplace_back();
  }

  const ByName given_, made_;
  TimedSchedule* out_;
  absl::flat_hash_map<const Instruction*, size_t> index_;
  std::vector<std::vector<std::string>> parts_;  // as out_->kernels
};

std::vector<double> Ranks(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) {
      ++end;
    }
    const double rank = 0.5 * static_cast<double>(begin + end - 1);
    for (; begin < end; ++begin) ranks[order[begin]] = rank;
  }
  return ranks;
}

}  // namespace

absl::StatusOr<TimedSchedule> TimeSchedule(std::unique_ptr<hlo::Module> module,
                                           const chips::Slice& slice,
                                           const hlo::CompileOptions& options) {
  std::unique_ptr<hlo::Module> given;
  if (module->config().is_scheduled && hlo::HasTiledLayouts(*module)) {
    given = module->Clone();
  }
  auto compiled =
      hlo::Compile(std::move(module), slice.chip, slice.topology, options);
  if (!compiled.ok()) return At("compile", compiled.status());
  sim::SimOptions simulate;
  simulate.engine = sim::Engine::kPlain;
  simulate.transfers = false;
  const auto trace = sim::Simulate(compiled->program, slice, simulate);
  if (!trace.ok()) return At("simulate", trace.status());
  TimedSchedule result;
  result.total_ps = trace->total_ps();
  result.peak_bytes = compiled->memory.peak.count();
  result.taken_apart = std::move(compiled->taken_apart);
  Collector collector(given == nullptr ? ByName() : InstructionsOf(*given),
                      InstructionsOf(*compiled->module), &result);
  for (const record::OpTrace& op : trace->op()) collector.Take(op);
  return result;
}

double RankCorrelation(const std::vector<double>& a,
                       const std::vector<double>& b) {
  if (a.empty()) return 0;
  const std::vector<double> x = Ranks(a), y = Ranks(b);
  const double mean = 0.5 * static_cast<double>(a.size() - 1);
  double xx = 0, yy = 0, xy = 0;
  for (size_t k = 0; k < x.size(); ++k) {
    xx += (x[k] - mean) * (x[k] - mean);
    yy += (y[k] - mean) * (y[k] - mean);
    xy += (x[k] - mean) * (y[k] - mean);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

std::optional<double> RankCorrelation(const TimedSchedule& schedule) {
  constexpr size_t kFewest = 3;
  std::vector<double> ours, theirs;
  for (const TimedKernel& k : schedule.kernels) {
    if (k.estimated_cycles <= 0 || k.executions <= 0) continue;
    ours.push_back(static_cast<double>(k.time_ps) /
                   static_cast<double>(k.executions));
    theirs.push_back(static_cast<double>(k.estimated_cycles));
  }
  if (ours.size() < kFewest) return std::nullopt;
  return RankCorrelation(ours, theirs);
}

}  // namespace ptxla::driver
