#include "hlo_backend/passes/pipeline.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/progress.h"
#include "base/status.h"
#include "base/text_proto.h"
#include "hlo_backend/ir/fingerprint.h"
#include "hlo_backend/ir/verifier.h"
#include "hlo_backend/passes/all_passes.h"

namespace ptxla::hlo {
namespace {

FingerprintOptions Everything() {
  FingerprintOptions options;
  options.order = true;
  return options;
}

absl::Status CheckTold(absl::string_view pass, bool changed, uint64_t before,
                       uint64_t after) {
  if (changed == (before != after)) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(
      "pass ", pass, ": said that it ", changed ? "changed" : "did not change",
      " the module, but the fingerprint is ",
      before == after ? "the same" : "another"));
}

}  // namespace

absl::Status Pipeline::AddStep(std::string group, int max_rounds,
                               const std::vector<std::string>& names) {
  Step step;
  step.group = std::move(group);
  step.max_rounds = max_rounds;
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(std::unique_ptr<Pass> pass, MakePass(name));
    step.passes.push_back(std::move(pass));
  }
  steps_.push_back(std::move(step));
  return absl::OkStatus();
}

absl::StatusOr<Pipeline> Pipeline::Create(const PipelineProto& proto) {
  Pipeline pipeline;
  pipeline.name_ = proto.name();
  for (const StepProto& step : proto.steps()) {
    if (step.has_until_stable()) {
      const GroupProto& g = step.until_stable();
      RETURN_IF_ERROR(pipeline.AddStep(g.name(), std::max(1, g.max_rounds()),
                                       {g.passes().begin(), g.passes().end()}))
          << "pipeline " << proto.name();
    } else {
      RETURN_IF_ERROR(pipeline.AddStep("", 1, {step.pass()}))
          << "pipeline " << proto.name();
    }
  }
  return pipeline;
}

absl::StatusOr<Pipeline> Pipeline::Parse(absl::string_view text,
                                         absl::string_view name) {
  PipelineProto proto;
  RETURN_IF_ERROR(ParseTextProto(text, name, &proto));
  return Create(proto);
}

absl::StatusOr<Pipeline> Pipeline::FromNames(absl::string_view comma_list) {
  Pipeline pipeline;
  pipeline.name_ = "named";
  for (absl::string_view name :
       absl::StrSplit(comma_list, ',', absl::SkipEmpty())) {
    RETURN_IF_ERROR(pipeline.AddStep("", 1, {std::string(name)}));
  }
  return pipeline;
}

absl::StatusOr<std::vector<PassReport>> Pipeline::Run(
    Module* module, const PassContext& context,
    const PipelineOptions& options) const {
  for (const std::string& name : options.disabled) {
    RETURN_IF_ERROR(MakePass(name).status()) << "while disabling passes";
  }
  uint64_t fingerprint = 0;
  if (options.verify) {
    RETURN_IF_ERROR(VerifyModule(*module)) << "before the first pass";
    fingerprint = FingerprintOf(*module, Everything());
  }
  if (options.dump) {
    RETURN_IF_ERROR(options.dump(0, "input", *module));
  }

  int64_t begun = 0, all = 0;
  for (const Step& step : steps_) all += step.passes.size();
  Activity compiling(absl::StrCat("compiling ", module->name()));
  std::vector<PassReport> reports;
  auto run_one = [&](Pass* pass, const Step& step,
                     int round) -> absl::StatusOr<bool> {
    PassReport report;
    report.name = std::string(pass->name());
    report.group = step.group;
    report.round = round;
    report.instructions_before = module->instruction_count();
    const auto start = std::chrono::steady_clock::now();
    ASSIGN_OR_RETURN(report.changed, pass->Run(module, context),
                     _ << "pass " << pass->name());
    // Bodies that nothing calls any more are no part of the program: no pass
    // shall work on them.
    if (report.changed) module->RemoveUnusedComputations();
    report.ms = std::chrono::duration<double, std::milli>(
                    std::chrono::steady_clock::now() - start)
                    .count();
    report.instructions_after = module->instruction_count();
    if (options.verify) {
      const uint64_t after = FingerprintOf(*module, Everything());
      RETURN_IF_ERROR(
          CheckTold(pass->name(), report.changed, fingerprint, after));
      fingerprint = after;
      RETURN_IF_ERROR(VerifyModule(*module)) << "after pass " << pass->name();
    }
    const bool changed = report.changed;
    reports.push_back(std::move(report));
    if (changed && options.dump) {
      RETURN_IF_ERROR(options.dump(static_cast<int>(reports.size()),
                                   reports.back().name, *module));
    }
    return changed;
  };

  for (const Step& step : steps_) {
    // A pass that left the module alone is not asked again before another one
    // has changed it.
    int64_t changes = 0;
    std::vector<int64_t> stable_at(step.passes.size(), -1);
    for (int round = 0; round < step.max_rounds; ++round) {
      const int64_t changes_before = changes;
      for (size_t k = 0; k < step.passes.size(); ++k) {
        Pass* pass = step.passes[k].get();
        if (stable_at[k] == changes ||
            std::count(options.disabled.begin(), options.disabled.end(),
                       pass->name()) > 0) {
          continue;
        }
        compiling.At(begun + static_cast<int64_t>(k), all, pass->name());
        ASSIGN_OR_RETURN(const bool changed, run_one(pass, step, round));
        if (changed) ++changes;
        if (!changed) stable_at[k] = changes;
      }
      if (changes == changes_before) break;
    }
    begun += step.passes.size();
  }
  return reports;
}

}  // namespace ptxla::hlo
