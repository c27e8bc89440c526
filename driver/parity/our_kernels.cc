#include "driver/parity/our_kernels.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/status.h"
#include "driver/parity/schedule_facts.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/compiler/compiler.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/lowering/kernel_decision.h"
#include "hlo_backend/lowering/kernel_plan.h"
#include "isa/from_chip_spec.h"
#include "isa/timing.h"

namespace ptxla::driver {
namespace {

using hlo::Instruction;
using hlo::Opcode;

// Bundles of control code, of a step and around the grid: the TPU compiler
// writes them out, ours are empty.
int64_t ControlBundles(const isa::Kernel& kernel) {
  int64_t bundles = 0;
  for (const isa::Code* code : {&kernel.entry, &kernel.step, &kernel.exit}) {
    for (const isa::Node& node : *code) {
      const isa::Block* block = node.block();
      if (block != nullptr && block->label == lowering::kControlLabel) {
        bundles += block->Cycles();
      }
    }
  }
  return bundles;
}

class Collector {
 public:
  Collector(const chips::Slice& slice, const OurOptions& options,
            const isa::Program& program)
      : slice_(slice),
        options_(options),
        program_(program),
        machine_(isa::FromChipSpec(slice.chip)) {
    Index(program.schedule);
  }

  void Take(const hlo::Computation& c) {
    for (const Instruction* i : c.PostOrder()) Take(*i);
  }

  ProgramFacts facts;

 private:
  void Index(const isa::Schedule& schedule) {
    for (const isa::Op& op : schedule) {
      if (const auto* call = std::get_if<isa::Call>(&op.action)) {
        calls_.emplace(op.info.name, call);
      } else if (const auto* loop = std::get_if<isa::While>(&op.action)) {
        Index(loop->condition);
        Index(loop->body);
      } else if (const auto* branch =
                     std::get_if<isa::Conditional>(&op.action)) {
        for (const isa::Schedule& s : branch->branches) Index(s);
      }
    }
  }

  void Take(const Instruction& i) {
    switch (i.opcode()) {
      case Opcode::kWhile:
        Take(*i.while_condition());
        Take(*i.while_body());
        return;
      case Opcode::kCall:
        Take(*i.to_apply());
        return;
      case Opcode::kConditional:
        for (const hlo::Computation* c : i.called()) Take(*c);
        return;
      case Opcode::kCopyStart:
        AddCopy(i.operand(0)->shape(), i.shape().element(0));
        return;
      default:
        break;
    }
    const auto call = calls_.find(i.name());
    if (call == calls_.end()) {
      // A copy that only changes the space has no kernel.
      if (i.opcode() == Opcode::kCopy) {
        AddCopy(i.operand(0)->shape(), i.shape());
      }
      return;
    }
    KernelFacts k = FactsOf(i);
    if (k.IsScalar()) return;
    if (slice_.chip.cmem().count() > 0) NameCmem(&k);
    Grid(program_.kernels[call->second->kernel], call->second->cores, &k);
    if (options_.costs) Costs(i, &k);
    facts.kernels.push_back(std::move(k));
  }

  // Where the scoped VMEM is all there is, what loads reach beside it is CMEM.
  static void NameCmem(KernelFacts* k) {
    for (std::vector<ArrayFacts>* arrays : {&k->operands, &k->outputs}) {
      for (ArrayFacts& a : *arrays) {
        if (a.space == '1') a.space = '3';
      }
    }
  }

  void AddCopy(const hlo::Shape& from, const hlo::Shape& to) {
    if (SpaceOf(from) == '0' && SpaceOf(to) != '0') {
      facts.prefetched_bytes += to.ByteSize();
    }
  }

  void Grid(const isa::Kernel& kernel, int cores, KernelFacts* k) {
    const isa::KernelTiming timing = isa::TimeKernel(kernel, machine_);
    k->steps = kernel.NumSteps();
    int64_t bundles = 0, steps = 0;
    const std::vector<int64_t> counts = timing.StepsPerClass(kernel, 0, cores);
    for (size_t c = 0; c < counts.size(); ++c) {
      bundles += counts[c] * timing.classes[c].profile.bundles;
      steps += counts[c];
    }
    if (steps == 0) return;
    k->bundles =
        static_cast<double>(bundles) / static_cast<double>(steps) +
        static_cast<double>(timing.entry.bundles + timing.exit.bundles +
                            ControlBundles(kernel));
  }

  void Costs(const Instruction& i, KernelFacts* k) {
    const auto decision = lowering::DecideKernel(i, slice_.chip);
    if (!decision.ok()) return;
    for (const auto& [steps, cost] : decision->log.cost_by_steps) {
      k->cost_by_steps[steps] = cost;
    }
    for (const lowering::TilingCandidate& c : decision->log.candidates) {
      if (c.refused.empty() && c.what == decision->log.chosen) {
        k->cost = c.cost_cycles;
      }
    }
  }

  const chips::Slice& slice_;
  const OurOptions options_;
  const isa::Program& program_;
  const isa::MachineModel machine_;
  std::map<std::string, const isa::Call*> calls_;
};

}  // namespace

absl::StatusOr<ProgramFacts> OurKernels(std::unique_ptr<hlo::Module> module,
                                        const chips::Slice& slice,
                                        const OurOptions& options) {
  ASSIGN_OR_RETURN(
      const hlo::CompiledModule compiled,
      hlo::Compile(std::move(module), slice.chip, slice.topology, {}));
  Collector collector(slice, options, compiled.program);
  collector.Take(*compiled.module->entry());
  collector.facts.memory = {
      compiled.memory.argument.count(), compiled.memory.output.count(),
      compiled.memory.alias.count(), compiled.memory.temp.count()};
  return std::move(collector.facts);
}

}  // namespace ptxla::driver
