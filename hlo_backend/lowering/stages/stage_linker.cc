#include "hlo_backend/lowering/stages/stage_linker.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/kernel_overheads.h"
#include "hlo_backend/lowering/stages/free_register.h"

namespace ptxla::lowering {
namespace {

using isa::Instr;
using isa::Kernel;
using isa::Opcode;
using isa::Window;

absl::Status Refuse(absl::string_view what) {
  return absl::UnimplementedError(absl::StrCat("stages with ", what));
}

// The window where it is in the only step.
absl::StatusOr<Window> Still(Window w) {
  for (isa::WindowDim& d : w.dims) {
    if (d.table_arg >= 0) return Refuse("windows that data moves");
    if (!d.table.empty()) d.origin += d.Advance() * d.table[0];
    d.table.clear();
    d.grid_dim = -1;
    d.grid_divisor = 1;
  }
  w.slots = 1;
  return w;
}

// First byte of a still window's block in its argument.
int64_t StartOf(const Window& w) {
  int64_t start = w.hbm_offset;
  for (const isa::WindowDim& d : w.dims) start += d.origin * d.hbm_stride;
  return start;
}

class Linker {
 public:
  Linker(const KernelContext& context, std::vector<isa::KernelArg> args)
      : context_(context) {
    joint_.args = std::move(args);
    result_windows_.assign(joint_.args.size(), -1);
  }

  absl::StatusOr<Kernel> Run(absl::Span<const LinkedStage> stages,
                             int64_t handed_on) {
    // Slots and handed-on arrays begin in the bank that arrays in VMEM do.
    for (const LinkedStage& s : stages) {
      handed_on_at_ = std::max(
          handed_on_at_,
          RoundUpTo<int64_t>(s.kernel.scratch_bytes, isa::kVmemAlignment));
    }
    joint_.scratch_bytes = handed_on_at_ + handed_on;
    isa::Code code;
    for (const LinkedStage& s : stages) {
      RETURN_IF_ERROR(Link(s, &code));
    }
    for (const isa::KernelArg& arg : joint_.args) {
      if (arg.space == isa::Space::kHbm) joint_.work.hbm_bytes += arg.bytes;
    }
    joint_.note = absl::StrCat(stages.size(), " stages");
    isa::LayoutVmem(&joint_);
    if (joint_.vmem_bytes > VmemBudget(context_)) {
      return absl::ResourceExhaustedError("stages beyond VMEM");
    }
    Frame(std::move(code));
    return std::move(joint_);
  }

 private:
  absl::Status Link(const LinkedStage& s, isa::Code* code) {
    stage_ = &s;
    descriptors_ = static_cast<int>(joint_.descriptors.size());
    semaphores_ = joint_.num_semaphores;
    windows_.assign(s.kernel.windows.size(), -1);
    handed_on_.clear();
    for (isa::DmaDescriptor d : s.kernel.descriptors) {
      HandedOn ends;
      ends.source = TakeEnd(&d.src_arg);
      ends.destination = TakeEnd(&d.dst_arg);
      if (ends.source && ends.destination) {
        return Refuse("transfers from stage to stage");
      }
      d.semaphore += semaphores_;
      joint_.descriptors.push_back(std::move(d));
      handed_on_.push_back(ends);
    }
    free_register_ = FreeScalarRegister(s.kernel, context_.model.sregs);
    joint_.num_semaphores += s.kernel.num_semaphores;
    joint_.work.flops += s.kernel.work.flops;
    joint_.work.mxu_flops += s.kernel.work.mxu_flops;
    joint_.work.transcendentals += s.kernel.work.transcendentals;
    RETURN_IF_ERROR(Append(s.kernel.entry, code));
    RETURN_IF_ERROR(Append(s.kernel.step, code));
    return Append(s.kernel.exit, code);
  }

  absl::Status Append(const isa::Code& from, isa::Code* to) {
    for (const isa::Node& node : from) {
      if (const isa::When* when = node.when()) {
        // The only step is the first and the last.
        if (when->kind == isa::When::Kind::kFirst ||
            when->kind == isa::When::Kind::kLast) {
          RETURN_IF_ERROR(Append(when->body, to));
        }
        continue;
      }
      if (const isa::Loop* loop = node.loop()) {
        isa::Loop copy = *loop;
        copy.body.clear();
        RETURN_IF_ERROR(Append(loop->body, &copy.body));
        to->push_back(std::move(copy));
        continue;
      }
      isa::Block block;
      block.label = node.block()->label;
      for (int n = 0; n < node.block()->NumBundles(); ++n) {
        const auto bundle = node.block()->Bundle(n);
        std::vector<Instr> linked(bundle.begin(), bundle.end());
        for (Instr& i : linked) {
          if (i.op == Opcode::kDmaStartDesc) {
            RETURN_IF_ERROR(AddAddress(&i, &block));
          }
          RETURN_IF_ERROR(Rewrite(&i));
        }
        block.Add(linked);
      }
      to->push_back(std::move(block));
    }
    return absl::OkStatus();
  }

  // What a stage hands on is a byte of scratch, not an argument: the register
  // of a transfer then holds the whole address, which a free one gets before.
  absl::Status AddAddress(Instr* transfer, isa::Block* block) {
    const HandedOn& ends = handed_on_[transfer->imm];
    const auto& end = ends.source ? ends.source : ends.destination;
    if (!end) return absl::OkStatus();
    if (free_register_ < 0) return Refuse("no register for an address");
    const auto r = static_cast<uint8_t>(free_register_);
    uint8_t& offset = ends.source ? transfer->a : transfer->b;
    const int wait = context_.model.Latency(isa::LatencyKey::kScalarAlu) - 1;
    Instr base;
    base.dst = r;
    RETURN_IF_ERROR(Address(*end, 0, &base));
    block->Add({base});
    if (wait > 0) block->AddNop(wait);
    if (offset != isa::kNoReg) {
      Instr sum;
      sum.op = Opcode::kSadd;
      sum.dst = sum.a = r;
      sum.b = offset;
      block->Add({sum});
      if (wait > 0) block->AddNop(wait);
    }
    offset = r;
    return absl::OkStatus();
  }

  // The argument of the joint kernel at the end of a transfer, or its place in
  // scratch.
  std::optional<StagePlace> TakeEnd(int* arg) const {
    if (*arg < 0) return std::nullopt;
    const StagePlace& place = stage_->places[*arg];
    *arg = place.arg;
    return place.arg < 0 ? std::make_optional(place) : std::nullopt;
  }

  absl::Status Rewrite(Instr* i) {
    switch (i->op) {
      case Opcode::kSwin:
        return RewriteAddress(i);
      case Opcode::kSarg: {
        const StagePlace& place = stage_->places[i->imm];
        if (place.arg >= 0) {
          i->imm = place.arg;
          return absl::OkStatus();
        }
        return Address(place, 0, i);
      }
      case Opcode::kSgrid:
        i->op = Opcode::kSmov;
        i->b = isa::kNoReg;
        i->imm = 0;
        return absl::OkStatus();
      case Opcode::kDmaStartDesc:
        i->imm += descriptors_;
        return absl::OkStatus();
      case Opcode::kDmaDoneWait:
      case Opcode::kSemAdd:
        i->imm += semaphores_;
        return absl::OkStatus();
      case Opcode::kSwinlen:
      case Opcode::kDmaStart:
      case Opcode::kDmaWait:
        return Refuse("windows of changing size");
      default:
        return absl::OkStatus();
    }
  }

  absl::Status RewriteAddress(Instr* i) {
    ASSIGN_OR_RETURN(Window w, Still(stage_->kernel.windows[i->imm]));
    const StagePlace& place = stage_->places[w.arg];
    if (place.arg < 0) return Address(place, StartOf(w), i);
    int& joint = windows_[i->imm];
    w.arg = place.arg;
    // A later stage may read a result in VMEM where it lies.
    if (IsResident(joint_, w)) w.direction = joint_.args[w.arg].direction;
    if (joint < 0) joint = AddWindow(std::move(w));
    i->imm = joint;
    return absl::OkStatus();
  }

  // The address of byte `offset` of something that a stage made.
  absl::Status Address(const StagePlace& place, int64_t offset, Instr* i) {
    if (place.scratch >= 0) {
      i->op = Opcode::kSscratch;
      i->imm = static_cast<int32_t>(handed_on_at_ + place.scratch + offset);
      return absl::OkStatus();
    }
    if (place.constant) {
      i->op = Opcode::kSmov;
      i->b = isa::kNoReg;
      i->imm = 0;
      return absl::OkStatus();
    }
    if (place.result < 0) return Refuse("operands without memory");
    if (offset != 0) return Refuse("parts of results");
    int& window = result_windows_[place.result];
    if (window < 0) {
      Window whole;
      whole.arg = place.result;
      whole.direction = isa::Direction::kOut;
      whole.inner_bytes = joint_.args[place.result].bytes;
      whole.slots = 1;
      whole.slot_bytes = whole.inner_bytes;
      window = static_cast<int>(joint_.windows.size());
      joint_.windows.push_back(std::move(whole));
    }
    i->op = Opcode::kSwin;
    i->imm = window;
    return absl::OkStatus();
  }

  // Two stages that read the same block share its slot.
  int AddWindow(Window w) {
    std::vector<Window>& all = joint_.windows;
    const auto same = std::find(all.begin(), all.end(), w);
    if (same != all.end() && w.direction == isa::Direction::kIn) {
      return static_cast<int>(same - all.begin());
    }
    all.push_back(std::move(w));
    return static_cast<int>(all.size()) - 1;
  }

  // Starts inputs, waits for them, starts results and waits.
  void Frame(isa::Code code) {
    isa::Block starts, waits, results, ends;
    starts.label = "start inputs";
    waits.label = "wait";
    results.label = "start outputs";
    ends.label = "wait for outputs";
    int copied = 0;
    for (const Window& w : joint_.windows) copied += !IsResident(joint_, w);
    const int64_t entry = OneStepEntry(context_.chip, copied);
    if (entry > copied) {
      starts.AddNop(static_cast<int>(entry - copied));
    }
    for (size_t n = 0; n < joint_.windows.size(); ++n) {
      const Window& w = joint_.windows[n];
      if (IsResident(joint_, w)) continue;
      Instr start, wait;
      start.op = Opcode::kDmaStart;
      wait.op = Opcode::kDmaWait;
      start.imm = wait.imm = static_cast<int32_t>(n);
      waits.Add({wait});
      if (w.direction == isa::Direction::kIn) {
        starts.Add({start});
      } else {
        results.Add({start});
        ends.Add({wait});
      }
    }
    const auto add = [](isa::Block block, isa::Code* to) {
      if (block.NumBundles() > 0) to->push_back(std::move(block));
    };
    add(std::move(starts), &joint_.entry);
    add(std::move(waits), &joint_.step);
    for (isa::Node& node : code) joint_.step.push_back(std::move(node));
    add(std::move(results), &joint_.step);
    add(std::move(ends), &joint_.exit);
  }

  const KernelContext& context_;
  Kernel joint_;
  int64_t handed_on_at_ = 0;
  std::vector<int> result_windows_;  // by argument: the slot that holds it
  // Of the stage that is being linked.
  const LinkedStage* stage_ = nullptr;
  // By its descriptors: the end that another stage made.
  struct HandedOn {
    std::optional<StagePlace> source, destination;
  };
  std::vector<HandedOn> handed_on_;
  int free_register_ = -1;
  int descriptors_ = 0, semaphores_ = 0;
  std::vector<int> windows_;  // the joint kernel's, or -1
};

}  // namespace

absl::StatusOr<isa::Kernel> LinkStages(const KernelContext& context,
                                       std::vector<isa::KernelArg> args,
                                       absl::Span<const LinkedStage> stages,
                                       int64_t handed_on) {
  return Linker(context, std::move(args)).Run(stages, handed_on);
}

}  // namespace ptxla::lowering
