#include "driver/module_support.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "hlo_backend/analysis/trip_count.h"
#include "hlo_backend/compiler/compiler.h"
#include "hlo_backend/input/elided_values.h"
#include "hlo_backend/input/module_file.h"
#include "hlo_backend/lowering/lowering.h"

namespace ptxla::driver {
namespace {

using hlo::Computation;
using hlo::Instruction;
using hlo::Opcode;

// Instructions of the compiled module lead back to those of the file by their
// source positions, which passes keep: they are numbered before compiling.
struct Numbered {
  std::unique_ptr<hlo::Module> module;
  std::vector<const Instruction*> original;  // by line, from 1
};

Numbered Number(const hlo::Module& module) {
  Numbered result;
  result.module = module.Clone();
  result.original.push_back(nullptr);
  absl::flat_hash_map<absl::string_view, const Computation*> by_name;
  for (const Computation* c : module.computations()) by_name[c->name()] = c;
  for (Computation* copy : result.module->computations()) {
    absl::flat_hash_map<absl::string_view, const Instruction*> originals;
    for (const Instruction* i : by_name.at(copy->name())->instructions()) {
      originals[i->name()] = i;
    }
    for (Instruction* i : copy->instructions()) {
      i->set_source_position(static_cast<int>(result.original.size()), 1);
      auto it = originals.find(i->name());
      result.original.push_back(it == originals.end() ? nullptr : it->second);
    }
  }
  return result;
}

// Elements of a program's schedule by the name of their instruction.
class ScheduleIndex {
 public:
  explicit ScheduleIndex(const isa::Program& program) : program_(program) {
    Walk(program.schedule);
  }

  // kFree: nothing of the schedule is it.
  OpSupport Of(const Instruction& i) const {
    auto it = support_.find(i.name());
    return it == support_.end() ? OpSupport::kFree : it->second;
  }
  // Kernels that are estimates, in order: (name, number).
  const std::vector<std::pair<const isa::OpInfo*, int>>& estimates() const {
    return estimates_;
  }
  const std::vector<int64_t>& calls() const { return calls_; }

 private:
  void Walk(const isa::Schedule& schedule) {
    calls_.resize(program_.kernels.size());
    for (const isa::Op& op : schedule) {
      OpSupport support = OpSupport::kSchedule;
      if (const auto* call = std::get_if<isa::Call>(&op.action)) {
        const isa::Kernel& kernel = program_.kernels[call->kernel];
        const bool estimate = !lowering::EstimateReason(kernel).empty();
        support = estimate ? OpSupport::kEstimate : OpSupport::kKernel;
        if (++calls_[call->kernel] == 1 && estimate) {
          estimates_.emplace_back(&op.info, call->kernel);
        }
      } else if (const auto* loop = std::get_if<isa::While>(&op.action)) {
        Walk(loop->condition);
        Walk(loop->body);
      } else if (const auto* branch =
                     std::get_if<isa::Conditional>(&op.action)) {
        for (const isa::Schedule& s : branch->branches) Walk(s);
      }
      support_.try_emplace(op.info.name, support);
    }
  }

  const isa::Program& program_;
  absl::flat_hash_map<std::string, OpSupport> support_;
  std::vector<std::pair<const isa::OpInfo*, int>> estimates_;
  std::vector<int64_t> calls_;
};

// Fills in what the compiled module tells about the file's instructions.
class Reader {
 public:
  Reader(const hlo::CompiledModule& compiled,
         const std::vector<const Instruction*>& original, ModuleSupport* out)
      : index_(compiled.program), original_(original), out_(out) {
    for (const Computation* c : compiled.module->computations()) {
      if (c->IsFusionComputation()) continue;
      for (const Instruction* i : c->instructions()) {
        Add(*i, index_.Of(*i));
        by_name_[i->name()] = i;
      }
    }
    for (const auto& [info, kernel] : index_.estimates()) {
      RefusedKernel refused;
      refused.name = info->name;
      refused.opcode = info->opcode;
      refused.reason = std::string(
          lowering::EstimateReason(compiled.program.kernels[kernel]));
      refused.calls = index_.calls()[kernel];
      auto it = by_name_.find(info->name);
      if (it != by_name_.end()) refused.instruction = First(*it->second);
      out_->refused.push_back(std::move(refused));
    }
    for (int64_t calls : index_.calls()) out_->kernels += calls;
    out_->distinct_kernels =
        static_cast<int64_t>(compiled.program.kernels.size());
  }

 private:
  const Instruction* OriginalOf(const Instruction& i) const {
    const size_t line = static_cast<size_t>(i.source_line());
    return line < original_.size() ? original_[line] : nullptr;
  }

  // Of several copies the worst counts.
  void Note(const Instruction& i, OpSupport support) {
    const Instruction* original = OriginalOf(i);
    if (original == nullptr) return;
    auto [it, fresh] = out_->found.try_emplace(original, support);
    const auto rank = [](OpSupport s) {
      return s == OpSupport::kFree ? -1 : static_cast<int>(s);
    };
    if (!fresh && rank(support) > rank(it->second)) it->second = support;
  }

  void Add(const Instruction& i, OpSupport support) {
    Note(i, support);
    if (i.opcode() != Opcode::kFusion) return;
    for (const Instruction* inner : i.fused()->instructions()) {
      if (inner->opcode() != Opcode::kParameter) Add(*inner, support);
    }
  }

  const Instruction* First(const Instruction& i) const {
    if (const Instruction* original = OriginalOf(i)) return original;
    if (i.opcode() != Opcode::kFusion) return nullptr;
    for (const Instruction* inner : i.fused()->instructions()) {
      if (inner->opcode() == Opcode::kParameter) continue;
      if (const Instruction* original = OriginalOf(*inner)) return original;
    }
    return nullptr;
  }

  ScheduleIndex index_;
  const std::vector<const Instruction*>& original_;
  absl::flat_hash_map<absl::string_view, const Instruction*> by_name_;
  ModuleSupport* out_;
};

}  // namespace

std::optional<OpSupport> ModuleSupport::Of(
    const Instruction& instruction) const {
  auto it = found.find(&instruction);
  if (it == found.end()) return std::nullopt;
  return it->second;
}

ModuleSupport SupportOf(const hlo::Module& module, const chips::Slice& slice) {
  ModuleSupport support;
  for (const Computation* c : module.computations()) {
    for (const Instruction* i : c->instructions()) {
      if (i->opcode() == Opcode::kWhile && !hlo::TripCountOf(*i)) {
        support.unknown_loops.push_back(i);
      }
    }
  }
  Numbered numbered = Number(module);
  support.elided_constants =
      hlo::FillElided(numbered.module.get(), hlo::ElidedValues::kZero);
  hlo::CompileOptions options;
  options.estimate_unknown_ops = true;
  options.assumed_trip_count = 1;
  const auto compiled = hlo::Compile(std::move(numbered.module), slice.chip,
                                     slice.topology, options);
  if (!compiled.ok()) {
    // Once more, for the file's own lines in the message.
    auto again = module.Clone();
    hlo::FillElided(again.get(), hlo::ElidedValues::kZero);
    support.blocked =
        hlo::Compile(std::move(again), slice.chip, slice.topology, options)
            .status();
    return support;
  }
  const Reader reader(*compiled, numbered.original, &support);
  return support;
}

}  // namespace ptxla::driver
