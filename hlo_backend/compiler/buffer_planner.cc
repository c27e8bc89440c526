#include <algorithm>

#include "absl/functional/function_ref.h"
#include "base/status.h"
#include "hlo_backend/compiler/address_tables.h"
#include "hlo_backend/compiler/buffer_classes.h"
#include "hlo_backend/compiler/buffer_ties.h"
#include "hlo_backend/compiler/compiler.h"
#include "hlo_backend/compiler/kernel_windows.h"
#include "hlo_backend/compiler/number_of_instruction.h"
#include "hlo_backend/compiler/vmem_room.h"
#include "hlo_backend/ir/verifier.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/memory/memory_places.h"
#include "isa/program.h"

namespace ptxla::hlo {
namespace {

// What a class of leaves that share memory is, all in all.
struct ClassInfo {
  int64_t begin = INT64_MAX, end = INT64_MIN;  // bytes from the class's start
  int32_t first = INT32_MAX, last = -1;        // positions in the schedule
  int parameter = -1;                          // of the entry
  bool output = false, constant = false;
  bool scalar = true;  // one element
  int memory_space = kMemoryHbm;
  bool mixed = false;  // leaves say different memory spaces
  int64_t uses = 0;    // by what reads or writes it
  const Instruction* maker = nullptr;
  int leaf = -1;  // of the maker
};

bool OnlyNames(const Instruction& i) {
  return OnlyNamesMemory(i) || i.opcode() == Opcode::kTuple ||
         IsConcatBitcast(i);
}

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
  Planner(const Module& module, const chips::ChipSpec& chip,
          const KernelWindows* windows)
      : module_(module),
        chip_(chip),
        windows_(windows),
        computations_(ControlComputations(module)),
        classes_(computations_) {}

  // `until_overflow`: what does not fit into VMEM is all that is asked for, if
  // there is any.
  absl::StatusOr<PlannedMemory> Run(bool until_overflow) {
    if (!module_.config().is_scheduled) {
      return absl::InvalidArgumentError(
          absl::StrCat(module_.name(), " has no schedule to plan memory for"));
    }
    TieLeaves(module_, computations_, chip_, &classes_);
    Number(*module_.entry());
    Describe();
    FindWindowBytes();
    return Assign(until_overflow);
  }

 private:
  int64_t BytesOf(const Shape& shape) const { return LeafBytes(shape, chip_); }

  // Positions: bodies run before the instruction that calls them is done.
  void Number(const Computation& c) {
    for (const Instruction* i : c.instructions()) {
      if (i->opcode() == Opcode::kWhile ||
          i->opcode() == Opcode::kConditional || i->opcode() == Opcode::kCall) {
        for (const Computation* callee : i->called()) Number(*callee);
      }
      position_.Set(*i, next_position_++);
    }
  }

  void ForEachThatRuns(absl::FunctionRef<void(const Instruction&)> fn) const {
    for (const Computation* c : computations_) {
      for (const Instruction* i : c->instructions()) {
        if (position_.Of(*i) >= 0) fn(*i);
      }
    }
  }

  void Describe() {
    info_.resize(classes_.leaf_count());
    const Instruction* root = module_.entry()->root();
    ForEachThatRuns([&](const Instruction& i) {
      int leaf = classes_.First(&i);
      ForEachLeaf(i.shape(), [&](const Shape& shape, const ShapeIndex&) {
        Add(i, leaf, shape, &i == root);
        ++leaf;
      });
    });
  }

  void Add(const Instruction& i, int leaf, const Shape& shape, bool is_output) {
    if (!HasMemory(shape)) return;
    const BufferClasses::At at = classes_.Find(leaf);
    ClassInfo& info = info_[at.root];
    info.begin = std::min(info.begin, at.offset);
    info.end = std::max(info.end, at.offset + BytesOf(shape));
    info.first = std::min(info.first, position_.Of(i));
    info.last = std::max(info.last, position_.Of(i));
    if (!OnlyNames(i)) ++info.uses;
    for (const Instruction* user : i.users()) {
      // A body's values may be read by what runs in it only.
      info.last = std::max(info.last, position_.Of(*user));
      if (!OnlyNames(*user)) ++info.uses;
    }
    if (i.opcode() == Opcode::kParameter && i.parent()->IsEntry()) {
      info.parameter = static_cast<int>(i.parameter_number());
    }
    info.output |= is_output;
    info.constant |= IsPreset(i);
    info.scalar &= shape.ElementCount() == 1;
    info.mixed |=
        info.maker != nullptr && info.memory_space != shape.memory_space();
    if (shape.memory_space() != kMemoryHbm) {
      info.memory_space = shape.memory_space();
    }
    // Names come after what they name, but for parameters of bodies.
    if (info.maker == nullptr || i.opcode() == Opcode::kParameter) {
      info.maker = &i;
      info.leaf = leaf;
    }
  }

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
    ASSIGN_OR_RETURN(
        const memory::Assignment assignment,
        memory::AssignBuffers(hbm.requests, Bytes(0), {}, TempRules()));
    SetOffsets(hbm, assignment, &result.plan);
    result.stats = assignment.stats;
    const Bytes table = TableOfResults(module_, chip_);
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
                                Requests* others) const {
    std::vector<int> buffer_of(info_.size(), -1);
    const auto add = [&](const ClassInfo& info,
                         const memory::BufferRequest& request) {
      Requests* side = request.colour == kMemoryHbm ? hbm : others;
      side->requests.push_back(request);
      side->buffers.push_back(static_cast<int>(plan->buffers.size()));
      AddBuffer(info, request, plan);
    };
    for (size_t root = 0; root < info_.size(); ++root) {
      const ClassInfo& info = info_[root];
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
    window_bytes_.resize(next_position_);
    ForEachThatRuns([&](const Instruction& i) {
      window_bytes_[position_.Of(i)] =
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
    const AddressTables tables = TablesOf(computations_, chip_);
    return {TempSlot(chip_), tables.taken, tables.bytes};
  }

  // What is in VMEM and cannot be: there is no room, others of its class lie
  // elsewhere, or it is a part that begins where kernels do not look for one.
  void FindOverflow(const std::vector<int>& buffer_of, PlannedMemory* memory) {
    const std::vector<bool> crowded_out = CrowdedOut(buffer_of, memory->plan);
    ForEachThatRuns([&](const Instruction& i) {
      int leaf = 0;
      ForEachLeaf(i.shape(), [&](const Shape& shape, const ShapeIndex&) {
        const int number = classes_.First(&i) + leaf++;
        if (!HasMemory(shape) || shape.memory_space() == kMemoryHbm) return;
        const BufferClasses::At at = classes_.Find(number);
        const ClassInfo& info = info_[at.root];
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
    std::vector<bool> beyond(info_.size());
    std::vector<int> roots;
    std::vector<VmemResident> residents;
    bool any = false;
    for (size_t root = 0; root < info_.size(); ++root) {
      if (buffer_of[root] < 0) continue;
      const ClassInfo& info = info_[root];
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
    std::vector<bool> out(info_.size());
    for (const int k : leaving) out[roots[k]] = true;
    return out;
  }

  static void AddBuffer(const ClassInfo& info,
                        const memory::BufferRequest& request,
                        BufferPlan* plan) {
    PlannedBuffer buffer;
    buffer.id = static_cast<int>(request.id);
    buffer.name = info.maker->name();
    buffer.bytes = request.bytes.count();
    buffer.kind =
        request.kind == memory::BufferKind::kArgument   ? PlannedKind::kArgument
        : request.kind == memory::BufferKind::kOutput   ? PlannedKind::kOutput
        : request.kind == memory::BufferKind::kConstant ? PlannedKind::kConstant
                                                        : PlannedKind::kTemp;
    buffer.memory_space = request.colour;
    buffer.alias_of = static_cast<int>(request.alias_of);
    buffer.label = info.maker->metadata().op_name;
    plan->buffers.push_back(std::move(buffer));
  }

  void FillLeaves(const std::vector<int>& buffer_of, BufferPlan* plan) {
    plan->leaves.reserve(next_position_);
    ForEachThatRuns([&](const Instruction& i) {
      std::vector<BufferRef>& refs = plan->leaves[&i];
      int leaf = classes_.First(&i);
      ForEachLeaf(i.shape(), [&](const Shape& shape, const ShapeIndex&) {
        const BufferClasses::At at = classes_.Find(leaf++);
        BufferRef ref;
        if (HasMemory(shape)) {
          ref.buffer = buffer_of[at.root];
          ref.offset = at.offset - info_[at.root].begin;
          ref.bytes = BytesOf(shape);
        }
        refs.push_back(ref);
      });
    });
  }

  const Module& module_;
  const chips::ChipSpec& chip_;
  const KernelWindows* const windows_;
  const std::vector<Computation*> computations_;
  BufferClasses classes_;
  std::vector<ClassInfo> info_;   // by root leaf
  NumberOfInstruction position_;  // in the schedule; none: it does not run
  int32_t next_position_ = 0;
  // Of the kernel at each position, where windows are known.
  std::vector<int64_t> window_bytes_;
};

}  // namespace

absl::StatusOr<PlannedMemory> PlanBuffers(const Module& scheduled,
                                          const chips::ChipSpec& chip) {
  return Planner(scheduled, chip, nullptr).Run(false);
}

absl::StatusOr<PlannedMemory> PlanBuffers(const Module& scheduled,
                                          const chips::ChipSpec& chip,
                                          const KernelWindows& windows) {
  return Planner(scheduled, chip, &windows).Run(false);
}

absl::StatusOr<PlannedMemory> PlanUntilOverflow(const Module& scheduled,
                                                const chips::ChipSpec& chip,
                                                const KernelWindows* windows) {
  return Planner(scheduled, chip, windows).Run(true);
}

}  // namespace ptxla::hlo
