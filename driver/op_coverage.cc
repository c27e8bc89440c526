#include "driver/op_coverage.h"

#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/status.h"
#include "base/suggest.h"
#include "chips/topology.h"
#include "hlo_backend/analysis/cost_analysis.h"
#include "hlo_backend/compiler/compiler.h"
#include "hlo_backend/evaluator/evaluator.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/verifier.h"
#include "isa/program.h"

namespace ptxla::driver {
namespace {

using hlo::Opcode;

constexpr char kName[] = "sample";

absl::StatusOr<std::unique_ptr<hlo::Module>> Read(const std::string& text) {
  ASSIGN_OR_RETURN(auto module, hlo::ParseModule(text, kName));
  RETURN_IF_ERROR(hlo::VerifyModule(*module));
  return module;
}

// The line of the instruction itself.
std::string RootLine(const std::string& text) {
  std::string root;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    line = absl::StripAsciiWhitespace(line);
    if (absl::ConsumePrefix(&line, "ROOT r = ")) root = std::string(line);
  }
  return root;
}

std::string Reason(const absl::Status& status) {
  return status.ok() ? "" : std::string(status.message());
}

absl::Status Evaluates(const hlo::Module& module) {
  hlo::EvaluatorOptions options;
  options.mirror_missing_devices = true;
  return hlo::Evaluate(module, hlo::RandomArguments(module, 1), options)
      .status();
}

// What the compiled program does for its one instruction.
OpSupport Support(const isa::Program& program) {
  bool called = false;
  for (const isa::Op& op : program.schedule) {
    if (std::holds_alternative<isa::Call>(op.action)) called = true;
  }
  if (called) return OpSupport::kKernel;
  return program.schedule.empty() ? OpSupport::kFree : OpSupport::kSchedule;
}

bool Has(const hlo::Module& module, Opcode opcode) {
  for (const hlo::Computation* c : module.computations()) {
    for (const hlo::Instruction* i : c->instructions()) {
      if (i->opcode() == opcode) return true;
    }
  }
  return false;
}

void AddOpcodes(const isa::Schedule& schedule, std::set<std::string>* names) {
  for (const isa::Op& op : schedule) {
    if (!std::holds_alternative<isa::CollectiveDone>(op.action) &&
        !std::holds_alternative<isa::CopyDone>(op.action)) {
      names->insert(op.info.opcode);
    }
    if (const auto* loop = std::get_if<isa::While>(&op.action)) {
      AddOpcodes(loop->body, names);
    } else if (const auto* branch = std::get_if<isa::Conditional>(&op.action)) {
      for (const isa::Schedule& s : branch->branches) AddOpcodes(s, names);
    }
  }
}

absl::Status Compiles(const std::string& text, Opcode opcode,
                      const chips::Slice& slice, OpTrial* trial) {
  for (const bool estimate : {false, true}) {
    ASSIGN_OR_RETURN(auto module, Read(text));
    hlo::CompileOptions options;
    options.estimate_unknown_ops = estimate;
    bool there = true;
    std::string gone;
    options.pipeline.dump = [&](int, const std::string& pass,
                                const hlo::Module& now) {
      const bool still = Has(now, opcode);
      if (there && !still) gone = pass;
      there = still;
      return absl::OkStatus();
    };
    const auto compiled =
        hlo::Compile(std::move(module), slice.chip, slice.topology, options);
    if (compiled.ok()) {
      trial->tpu = estimate ? OpSupport::kEstimate : Support(compiled->program);
      std::set<std::string> names;
      AddOpcodes(compiled->program.schedule, &names);
      trial->becomes.assign(names.begin(), names.end());
      trial->expanded_by = there ? "" : gone;
      return absl::OkStatus();
    }
    if (!estimate) trial->tpu_error = Reason(compiled.status());
  }
  return absl::OkStatus();
}

OpTrial Try(Opcode opcode, const chips::Slice& slice) {
  OpTrial trial;
  trial.name = std::string(hlo::OpcodeName(opcode));
  const auto text = OpSampleText(opcode);
  if (!text.ok()) {
    trial.read_error = Reason(text.status());
    return trial;
  }
  trial.sample = RootLine(*text);
  const auto module = Read(*text);
  if (!module.ok()) {
    trial.read_error = Reason(module.status());
    return trial;
  }
  trial.evaluate_error = Reason(Evaluates(**module));
  trial.costed =
      hlo::CostAnalysis().Of(*(*module)->entry()->root()).unknown_ops == 0;
  const absl::Status compiled = Compiles(*text, opcode, slice, &trial);
  if (!compiled.ok()) trial.tpu_error = Reason(compiled);
  return trial;
}

}  // namespace

const char* OpSupportName(OpSupport support) {
  switch (support) {
    case OpSupport::kKernel:
      return "kernel";
    case OpSupport::kSchedule:
      return "schedule";
    case OpSupport::kFree:
      return "free";
    case OpSupport::kEstimate:
      return "estimate";
    case OpSupport::kRefused:
      return "refused";
  }
  return "";
}

absl::StatusOr<std::vector<OpTrial>> OpCoverage(const std::string& chip,
                                                absl::string_view name) {
  ASSIGN_OR_RETURN(const chips::ChipSpec spec, chips::ChipSpec::Load(chip));
  // Eight devices, whatever the chip counts in.
  std::string slice_name;
  for (const std::vector<int>& shape : chips::NamedShapes(spec)) {
    int chips = 1;
    for (int extent : shape) chips *= extent;
    if (chips >= 8 && slice_name.empty()) {
      slice_name = chips::SliceName(spec, shape);
    }
  }
  if (slice_name.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("chip ", chip,
                     " has no slice of eight chips to try "
                     "collectives on"));
  }
  ASSIGN_OR_RETURN(const chips::Slice slice, chips::ParseSlice(slice_name));
  std::vector<OpTrial> trials;
  std::vector<std::string> names;
  for (int i = 0; i < hlo::kOpcodeCount; ++i) {
    const auto opcode = static_cast<Opcode>(i);
    names.push_back(std::string(hlo::OpcodeName(opcode)));
    if (name.empty() || name == names.back()) {
      trials.push_back(Try(opcode, slice));
    }
  }
  if (trials.empty()) return UnknownName("opcode", std::string(name), names);
  return trials;
}

}  // namespace ptxla::driver
