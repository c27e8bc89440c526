#include <algorithm>

#include "absl/functional/function_ref.h"
#include "base/status.h"
#include "hlo_backend/compiler/address_tables.h"
#include "hlo_backend/compiler/buffer_classes.h"
#include "hlo_backend/compiler/buffer_lives.h"
#include "hlo_backend/compiler/buffer_ties.h"
#include "hlo_backend/compiler/compiler.h"
#include "hlo_backend/compiler/kernel_windows.h"
#include "hlo_backend/compiler/vmem_room.h"
#include "hlo_backend/ir/verifier.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/memory/memory_places.h"
#include "isa/program.h"

namespace ptxla::hlo {
namespace {

bool IsTransfer(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kAsyncDone:
    case Opcode::kAsyncStart:
    case Opcode::kAsyncUpdate:
    case Opcode::kCopyDone:
    case Opcode::kCopyStart:
      return true;
    default:
      return false;
  }
}

// Only DMAs touch what it is by itself: a part of what its users name whole.
bool OnlyTransferred(const Instruction& i) {
  return IsTransfer(i) && std::all_of(i.users().begin(), i.users().end(),
                                      [](const Instruction* user) {
                                        return IsConcatBitcast(*user) ||
                                               OnlyTransferred(*user);
                                      });
}

class Planner {
 public:
  // `windows`: of kernels that are made, or null.
  Planner(const ScheduleLeaves& schedule, const KernelWindows* windows)
      : schedule_(schedule),
        chip_(schedule.chip()),
        windows_(windows),
        lives_(schedule) {}

  // `until_overflow`: what does not fit into VMEM is all that is asked for, if
  // there is any.
  absl::StatusOr<PlannedMemory> Run(bool until_overflow) {
    FindWindowBytes();
    return Assign(until_overflow);
  }

 private:
  // Requests of one side, HBM or all other memories, and of each its number
  // among all buffers.
  struct Requests {
    std::vector<memory::BufferRequest> requests;
    std::vector<int> buffers;
  };

  absl::StatusOr<PlannedMemory> Assign(bool until_overflow) {
    PlannedMemory result;
    Requests hbm, others;
    const std::vector<int> buffer_of =
        MakeRequests(&result.plan, &hbm, &others);
    ASSIGN_OR_RETURN(
        const memory::Assignment near,
        memory::AssignBuffers(others.requests, Bytes(0), ReservedStarts()));
    SetOffsets(others, near, &result.plan);
    FindOverflow(buffer_of, &result);
    if (until_overflow && !result.vmem_overflow.empty()) return result;
    NameBuffers(&result.plan);
    ASSIGN_OR_RETURN(
        const memory::Assignment assignment,
        memory::AssignBuffers(hbm.requests, Bytes(0), {}, TempRules()));
    SetOffsets(hbm, assignment, &result.plan);
    result.stats = assignment.stats;
    const Bytes table = TableOfResults(schedule_.module(), chip_);
    result.stats.output += table;
    result.stats.peak += table;
    result.largest_at_peak =
        memory::LargestAtPeak(hbm.requests, assignment, 10);
    for (memory::LiveBuffer& live : result.largest_at_peak) {
      live.request = hbm.buffers[live.request];
    }
    FillLeaves(buffer_of, &result.plan);
    return result;
  }

  // The buffer of each class, by root leaf; -1: none.
  std::vector<int> MakeRequests(BufferPlan* plan, Requests* hbm,
                                Requests* others) {
    std::vector<int> buffer_of(lives_.leaf_count(), -1);
    const auto add = [&](const ClassInfo& info,
                         const memory::BufferRequest& request) {
      Requests* side = request.colour == kMemoryHbm ? hbm : others;
      side->requests.push_back(request);
      side->buffers.push_back(static_cast<int>(plan->buffers.size()));
      AddBuffer(info, request, plan);
    };
    for (size_t root = 0; root < lives_.leaf_count(); ++root) {
      const ClassInfo& info = lives_.Of(root);
      if (info.maker == nullptr) continue;
      memory::BufferRequest request;
      request.id = static_cast<int64_t>(plan->buffers.size());
      request.bytes = Bytes(info.end - info.begin);
      // A constant that is an output lies there before the program starts.
      request.life = {info.constant ? 0 : info.first, info.last};
      request.colour = info.memory_space;
      if (request.colour == kMemoryVmem) {
        // Residents begin at bank boundaries: so do all if their sizes are
        // multiples.
        request.bytes = Bytes(
            RoundUpTo<int64_t>(request.bytes.count(), isa::kVmemAlignment));
      }
      request.scalar = info.scalar;
      request.kind = info.parameter >= 0 ? memory::BufferKind::kArgument
                     : info.output       ? memory::BufferKind::kOutput
                     : info.constant     ? memory::BufferKind::kConstant
                                         : memory::BufferKind::kTemp;
      buffer_of[root] = static_cast<int>(plan->buffers.size());
      add(info, request);
      if (info.parameter >= 0 && info.output) {
        request.alias_of = request.id;
        request.id = static_cast<int64_t>(plan->buffers.size());
        request.kind = memory::BufferKind::kOutput;
        add(info, request);
      }
    }
    return buffer_of;
  }

  // Windows of kernels lie at the start of VMEM, residents above.
  void SetOffsets(const Requests& side, const memory::Assignment& assignment,
                  BufferPlan* plan) const {
    const int64_t windows =
        windows_ != nullptr ? 0 : chip_.vmem().scoped_limit.count();
    for (size_t k = 0; k < side.requests.size(); ++k) {
      PlannedBuffer& buffer = plan->buffers[side.buffers[k]];
      buffer.offset = assignment.offsets[k];
      if (buffer.memory_space == kMemoryVmem) buffer.offset += windows;
      if (buffer.memory_space == kMemorySmem) {
        buffer.offset += chip_.smem().count() / 2;
      }
    }
  }

  void FindWindowBytes() {
    if (windows_ == nullptr) return;
    window_bytes_.resize(schedule_.positions());
    schedule_.ForEachThatRuns([&](const Instruction& i) {
      window_bytes_[schedule_.PositionOf(i)] =
          RoundUpTo<int64_t>(windows_->Of(i), isa::kVmemAlignment);
    });
  }

  std::vector<memory::ReservedStart> ReservedStarts() const {
    std::vector<memory::ReservedStart> reserved;
    for (int32_t p = 0; p < static_cast<int32_t>(window_bytes_.size()); ++p) {
      if (window_bytes_[p] == 0) continue;
      reserved.push_back({Bytes(window_bytes_[p]), {p, p}, kMemoryVmem});
    }
    return reserved;
  }

  // How HBM holds what is temporary.
  memory::TempRules TempRules() const {
    const AddressTables tables = TablesOf(schedule_.computations(), chip_);
    return {TempSlot(chip_), tables.taken, tables.bytes};
  }

  // What is in VMEM and cannot be: there is no room, others of its class lie
  // elsewhere, or it is a part that begins where kernels do not look for one.
  void FindOverflow(const std::vector<int>& buffer_of, PlannedMemory* memory) {
    const std::vector<bool> crowded_out = CrowdedOut(buffer_of, memory->plan);
    schedule_.ForEachThatRuns([&](const Instruction& i) {
      int leaf = 0;
      ForEachLeaf(i.shape(), [&](const Shape& shape, const ShapeIndex&) {
        const int number = lives_.classes().First(&i) + leaf++;
        if (!HasMemory(shape) || shape.memory_space() == kMemoryHbm) return;
        const BufferClasses::At at = lives_.classes().Find(number);
        const ClassInfo& info = lives_.Of(at.root);
        const bool displaced =
            info.memory_space == kMemoryVmem &&
            (at.offset - info.begin) % isa::kVmemAlignment != 0 &&
            !OnlyTransferred(i);
        if (info.mixed || crowded_out[at.root] || displaced) {
          memory->vmem_overflow.emplace_back(&i, leaf - 1);
        }
      });
    });
  }

  // Classes (by root leaf) that VMEM has no room for: what is of least worth,
  // or, where only the holes are too small, what came to lie beyond its end.
  std::vector<bool> CrowdedOut(const std::vector<int>& buffer_of,
                               const BufferPlan& plan) const {
    // What is beyond VMEM and loaded in place lies in CMEM.
    const int64_t end = (chip_.vmem().usable + chip_.cmem()).count();
    const int64_t room =
        windows_ != nullptr ? end : end - chip_.vmem().scoped_limit.count();
    std::vector<bool> beyond(lives_.leaf_count());
    std::vector<int> roots;
    std::vector<VmemResident> residents;
    bool any = false;
    for (size_t root = 0; root < lives_.leaf_count(); ++root) {
      if (buffer_of[root] < 0) continue;
      const ClassInfo& info = lives_.Of(root);
      const PlannedBuffer& b = plan.buffers[buffer_of[root]];
      if (b.memory_space != kMemoryVmem) continue;
      beyond[root] = b.offset + b.bytes > end;
      any |= beyond[root];
      roots.push_back(static_cast<int>(root));
      residents.push_back({info.first, info.last, b.bytes, info.uses});
    }
    if (!any) return beyond;
    const std::vector<int> leaving = LeastWorth(residents, room, window_bytes_);
    if (leaving.empty()) return beyond;
    std::vector<bool> out(lives_.leaf_count());
    for (const int k : leaving) out[roots[k]] = true;
    return out;
  }

  void AddBuffer(const ClassInfo& info, const memory::BufferRequest& request,
                 BufferPlan* plan) {
    PlannedBuffer buffer;
    buffer.id = static_cast<int>(request.id);
    buffer.bytes = request.bytes.count();
    buffer.kind =
        request.kind == memory::BufferKind::kArgument   ? PlannedKind::kArgument
        : request.kind == memory::BufferKind::kOutput   ? PlannedKind::kOutput
        : request.kind == memory::BufferKind::kConstant ? PlannedKind::kConstant
                                                        : PlannedKind::kTemp;
    buffer.memory_space = request.colour;
    buffer.alias_of = static_cast<int>(request.alias_of);
    plan->buffers.push_back(std::move(buffer));
    makers_.push_back(info.maker);
  }

  // A plan that overflows is seen by nobody: it needs none.
  void NameBuffers(BufferPlan* plan) const {
    for (size_t k = 0; k < plan->buffers.size(); ++k) {
      plan->buffers[k].name = makers_[k]->name();
      plan->buffers[k].label = makers_[k]->metadata().op_name;
    }
  }

  void FillLeaves(const std::vector<int>& buffer_of, BufferPlan* plan) {
    plan->leaves.reserve(schedule_.positions());
    schedule_.ForEachThatRuns([&](const Instruction& i) {
      std::vector<BufferRef>& refs = plan->leaves[&i];
      int leaf = lives_.classes().First(&i);
      ForEachLeaf(i.shape(), [&](const Shape& shape, const ShapeIndex&) {
        BufferRef ref;
        if (HasMemory(shape)) {
          const BufferClasses::At at = lives_.classes().Find(leaf);
          ref.buffer = buffer_of[at.root];
          ref.offset = at.offset - lives_.Of(at.root).begin;
          ref.bytes = schedule_.BytesOf(leaf);
        }
        refs.push_back(ref);
        ++leaf;
      });
    });
  }

  const ScheduleLeaves& schedule_;
  const chips::ChipSpec& chip_;
  const KernelWindows* const windows_;
  const BufferLives lives_;
  std::vector<const Instruction*> makers_;  // by buffer
  // Of the kernel at each position, where windows are known.
  std::vector<int64_t> window_bytes_;
};

absl::StatusOr<PlannedMemory> Plan(const Module& module,
                                   const chips::ChipSpec& chip,
                                   const KernelWindows* windows) {
  RETURN_IF_ERROR(CheckScheduled(module));
  const ScheduleLeaves schedule(module, chip);
  return Planner(schedule, windows).Run(/*until_overflow=*/false);
}

}  // namespace

absl::Status CheckScheduled(const Module& module) {
  if (module.config().is_scheduled) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(module.name(), " has no schedule to plan memory for"));
}

absl::StatusOr<PlannedMemory> PlanBuffers(const Module& scheduled,
                                          const chips::ChipSpec& chip) {
  return Plan(scheduled, chip, nullptr);
}

absl::StatusOr<PlannedMemory> PlanBuffers(const Module& scheduled,
                                          const chips::ChipSpec& chip,
                                          const KernelWindows& windows) {
  return Plan(scheduled, chip, &windows);
}

absl::StatusOr<PlannedMemory> PlanUntilOverflow(const ScheduleLeaves& schedule,
                                                const KernelWindows* windows) {
  return Planner(schedule, windows).Run(/*until_overflow=*/true);
}

}  // namespace ptxla::hlo
