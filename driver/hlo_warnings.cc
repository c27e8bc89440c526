#include "driver/hlo_warnings.h"

#include <map>
#include <variant>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "hlo_backend/analysis/partitioning.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/scheduled/unschedule.h"

namespace ptxla::driver {
namespace {

void WarnOfForeignSchedule(const HloInput& input, record::RunRecord* record) {
  if (!input.module->config().is_scheduled ||
      hlo::HasTiledLayouts(*input.module)) {
    return;
  }
  record->add_warnings(absl::StrCat(
      input.module->name(),
      " was scheduled for another machine than a TPU: its fusions are taken "
      "apart and it is compiled anew"));
}

void WarnOfFilledConstants(const HloInput& input, const std::string& values,
                           record::RunRecord* record) {
  if (input.filled_constants == 0) return;
  record->add_warnings(absl::StrCat(
      input.filled_constants, " constants of ", input.module->name(),
      " have no values in the text: taken as ",
      values == "zero" ? "0" : "0, 1, 2 ...", " (--elided)"));
}

void WarnOfIgnoredShardings(const hlo::Module& module,
                            record::RunRecord* record) {
  const hlo::Instruction* cut = hlo::FindIgnoredSharding(module);
  if (cut == nullptr) return;
  record->add_warnings(absl::StrCat(
      module.name(), " has shardings (%", cut->name(), ") for ",
      module.DeviceCount(),
      " devices and is not partitioned: every device is taken to run all of "
      "it; the module after partitioning (--xla_dump_to) has its parts"));
}

// Calls of other compilers.
void WarnOfForeignCalls(const hlo::Module& module, record::RunRecord* record) {
  std::map<std::string, int> calls;
  for (const hlo::Computation* c : module.computations()) {
    for (const hlo::Instruction* i : c->instructions()) {
      const auto* call = i->attrs_if<hlo::CustomCallAttrs>();
      if (call != nullptr && (absl::StartsWith(call->target, "AwsNeuron") ||
                              absl::StartsWith(call->target, "byteir."))) {
        ++calls[call->target];
      }
    }
  }
  for (const auto& [target, count] : calls) {
    record->add_warnings(absl::StrCat(
        count, " calls \"", target, "\" of another compiler are taken for ",
        absl::StrContains(target, "Transfer") ? "their operands"
                                              : "the function of that name"));
  }
}

}  // namespace

void WarnOfInput(const HloInput& input, const std::string& elided_values,
                 record::RunRecord* record) {
  WarnOfForeignSchedule(input, record);
  WarnOfFilledConstants(input, elided_values, record);
  WarnOfIgnoredShardings(*input.module, record);
  WarnOfForeignCalls(*input.module, record);
}

bool WarnOfAssumedLoops(const isa::Schedule& schedule,
                        record::RunRecord* record) {
  bool assumed = false;
  for (const isa::Op& op : schedule) {
    if (const auto* choice = std::get_if<isa::Conditional>(&op.action)) {
      for (const isa::Schedule& branch : choice->branches) {
        assumed |= WarnOfAssumedLoops(branch, record);
      }
    }
    const auto* loop = std::get_if<isa::While>(&op.action);
    if (loop == nullptr) continue;
    if (loop->basis == isa::TripCount::kAssumed) {
      assumed = true;
      record->add_warnings(absl::StrCat(
          op.info.name, " runs as often as its data says: taken as ",
          loop->trips, " times (--trip-count)"));
    }
    assumed |= WarnOfAssumedLoops(loop->condition, record);
    assumed |= WarnOfAssumedLoops(loop->body, record);
  }
  return assumed;
}

}  // namespace ptxla::driver
