#include "driver/explain/kernel_page.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "driver/explain/losses.h"
#include "driver/explain/useful_work.h"
#include "hlo_backend/ir/shape.h"
#include "hlo_backend/lowering/kernel_decision.h"
#include "hlo_backend/lowering/kernel_emitter.h"
#include "isa/asm.h"
#include "isa/from_chip_spec.h"
#include "isa/grid.h"
#include "sim/core/in_place.h"
#include "sim/core/kernel_account.h"

namespace ptxla::driver {
namespace {

using sim::KernelAccount;

void FillArguments(const hlo::Instruction& i, const isa::Kernel& kernel,
                   const chips::ChipSpec& chip, record::Explanation* out) {
  const std::vector<const hlo::Shape*> leaves = lowering::KernelLeaves(i);
  for (size_t k = 0; k < kernel.args.size(); ++k) {
    record::ExplainedArg* arg = out->add_args();
    arg->set_name(kernel.args[k].name);
    if (k < leaves.size()) arg->set_shape(leaves[k]->ToStringWithLayout());
    arg->set_space(SpaceName(kernel.args[k].space, chip));
    arg->set_bytes(kernel.args[k].bytes);
  }
}

void FillWindows(const isa::Kernel& kernel, const KernelAccount& a,
                 record::Explanation* out) {
  isa::GridWalk walk(kernel, a.core, a.cores);
  for (size_t w = 0; w < kernel.windows.size(); ++w) {
    const isa::Window& window = kernel.windows[w];
    record::ExplainedWindow* e = out->add_windows();
    e->set_arg(kernel.args[window.arg].name);
    e->set_direction(std::string(isa::Name(window.direction)));
    e->set_copied(!isa::IsResident(kernel, window));
    e->set_slots(window.slots);
    int64_t bytes = window.inner_bytes;
    std::vector<bool> moves(kernel.grid.size(), false);
    for (const isa::WindowDim& d : window.dims) {
      bytes *= d.block;
      if (d.grid_dim >= 0 && d.grid_dim < static_cast<int>(moves.size())) {
        moves[d.grid_dim] = kernel.grid[d.grid_dim] > 1;
      }
    }
    e->set_block_bytes(bytes);
    std::string with;
    for (size_t d = 0; d < moves.size(); ++d) {
      if (moves[d]) absl::StrAppend(&with, with.empty() ? "i" : ", i", d);
    }
    e->set_moves_with(with);
    const int index = static_cast<int>(w);
    e->set_transfers(isa::CountTransfers(kernel, index, a.core, a.cores));
    if (!e->copied()) continue;
    // What clamping leaves of the blocks.
    int64_t moved = 0, changes = -1;
    for (int64_t s = 0; s < walk.num_steps(); ++s) {
      walk.Seek(s);
      const int64_t now = walk.BlockChanges(index, s);
      if (now != changes) moved += walk.CurrentBox(index).bytes;
      changes = now;
    }
    e->set_bytes(moved);
  }
}

void FillUnits(const KernelAccount& a, const isa::MachineModel& m,
               int64_t cycles, record::Explanation* out) {
  const auto add = [&](const std::string& name, int ways, int64_t uses) {
    if (uses == 0) return;
    record::ExplainedUnit* unit = out->add_units();
    unit->set_name(name);
    unit->set_ways(std::max(1, ways));
    unit->set_uses(uses);
    unit->set_cycles(CeilOfRatio<int64_t>(uses, std::max(1, ways)));
    unit->set_utilisation(
        cycles == 0 ? 0
                    : static_cast<double>(uses) /
                          (static_cast<double>(cycles) * std::max(1, ways)));
  };
  const auto unit = [&](const char* name, isa::ExecUnit u) {
    add(name, m.Units(u), a.use.unit_busy[static_cast<int>(u)]);
  };
  const auto slot = [&](const char* name, isa::Slot s) {
    add(name, m.Slots(s), a.use.slot_uses[static_cast<int>(s)]);
  };
  unit("MXU matmul", isa::ExecUnit::kMatmul);
  unit("MXU weight push", isa::ExecUnit::kPush);
  slot("vector ALU slots", isa::Slot::kVector);
  unit("EUP", isa::ExecUnit::kEup);
  unit("XLU", isa::ExecUnit::kXlu);
  slot("load slots", isa::Slot::kLoad);
  slot("store slots", isa::Slot::kStore);
  slot("MXU issue slots", isa::Slot::kMxu);
  slot("result pop slots", isa::Slot::kPop);
  slot("misc slots", isa::Slot::kMisc);
  slot("scalar slots", isa::Slot::kScalar);
}

void FillBlocks(const KernelAccount& a, record::Explanation* out) {
  const auto add = [&](const char* phase, const isa::CodeAccount& code,
                       int step_class, int64_t times) {
    for (const isa::CodePart& p : code.parts) {
      record::ExplainedBlock* b = out->add_blocks();
      b->set_phase(phase);
      b->set_step_class(step_class);
      b->set_phase_runs(times);
      b->set_label(p.block->label);
      b->set_depth(p.depth);
      b->set_trips(p.trips);
      b->set_runs(p.times * times);
      b->set_bundles(p.block->NumBundles());
      b->set_cycles(p.once.Total());
      b->set_total_cycles(p.once.Total() * p.times * times);
      b->set_work_cycles(p.once[isa::CycleCause::kWork]);
      b->set_listing(isa::Print(*p.block));
    }
  };
  add("entry", a.entry, 0, 1);
  for (size_t c = 0; c < a.steps.size(); ++c) {
    add("step", a.steps[c].code, static_cast<int>(c), a.steps[c].steps);
  }
  add("exit", a.exit, 0, 1);
}

absl::Status FillTilings(const hlo::Instruction& i, const isa::Kernel& kernel,
                         const chips::ChipSpec& chip,
                         record::Explanation* out) {
  auto decision = lowering::DecideKernel(i, chip);
  if (!decision.ok()) {
    // An estimate stands where there is no kernel.
    return lowering::IsEstimate(kernel) ? absl::OkStatus() : decision.status();
  }
  if (!(decision->kernel.step == kernel.step) ||
      !(decision->kernel.grid == kernel.grid)) {
    return absl::InternalError(
        "its kernel is not the one that its instruction is lowered to");
  }
  const lowering::TilingLog& log = decision->log;
  out->set_tilings_considered(log.considered);
  out->set_tilings_too_large(log.too_large);
  std::set<std::string> seen;  // bodies that spill have the same tiles
  for (const lowering::TilingCandidate& c : log.candidates) {
    if (!seen.insert(absl::StrCat(c.what, c.cost_cycles, c.refused)).second) {
      continue;
    }
    record::ExplainedTiling* t = out->add_tilings();
    t->set_what(c.what);
    t->set_cost_cycles(c.cost_cycles);
    t->set_step_cycles(c.step_cycles);
    t->set_vmem_bytes(c.vmem_bytes);
    t->set_refused(c.refused);
    t->set_chosen(c.refused.empty() && c.what == log.chosen);
  }
  return absl::OkStatus();
}

}  // namespace

std::string SpaceName(isa::Space space, const chips::ChipSpec& chip) {
  if (space == isa::Space::kVmem && chip.cmem().count() > 0) {
    space = isa::Space::kCmem;
  }
  return std::string(isa::Name(space));
}

absl::Status ExplainKernel(const hlo::Instruction& instruction,
                           const isa::Program& program, const isa::Call& call,
                           const chips::Slice& slice,
                           record::Explanation* out) {
  const isa::Kernel& kernel = program.kernels[call.kernel];
  ASSIGN_OR_RETURN(const KernelAccount a,
                   sim::AccountFor(kernel, call.cores, slice,
                                   sim::InPlaceArgs(program, call)));
  const isa::MachineModel machine = isa::FromChipSpec(slice.chip);
  out->set_kernel(kernel.name);
  out->set_note(kernel.note);
  out->set_core(a.core);
  out->set_cores(call.cores);
  for (const int64_t n : kernel.grid) out->add_grid(n);
  out->set_megacore_dim(kernel.megacore_dim);
  out->set_grid_steps(a.grid_steps);
  out->set_all_grid_steps(a.all_grid_steps);
  out->set_vmem_bytes(kernel.vmem_bytes);
  out->set_flops(kernel.work.flops);
  out->set_hbm_bytes(a.hbm_bytes);
  out->set_hbm_busy_cycles(a.hbm_busy_cycles);
  out->set_hbm_peak_bytes_per_s(slice.chip.hbm_bandwidth_per_device().count());
  FillArguments(instruction, kernel, slice.chip, out);
  FillWindows(kernel, a, out);
  FillUnits(a, machine, out->cycles(), out);
  FillBlocks(a, out);

  out->set_main_unit(a.main.Name());
  OpWork work;
  work.cycles = out->cycles();
  work.useful_cycles =
      UsefulCycles(instruction, kernel, a, slice.chip, machine);
  for (record::Loss& loss : LossesOf(a, machine, work)) {
    *out->add_losses() = std::move(loss);
  }
  return FillTilings(instruction, kernel, slice.chip, out);
}

}  // namespace ptxla::driver
