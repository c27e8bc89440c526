#include "isa/pipeline.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status.h"
#include "isa/asm.h"
#include "isa/broken.h"

namespace ptxla::isa {
namespace {

std::string RegName(const RegRef& reg) {
  constexpr char kLetters[] = {'v', 's', 'm', 'p'};
  return absl::StrFormat("%c%d", kLetters[static_cast<int>(reg.cls)],
                         reg.index);
}

}  // namespace

Pipeline::Pipeline(const MachineModel& machine) : machine_(machine) {}

absl::Status Pipeline::Issue(absl::Span<const Instr> bundle) {
  RETURN_IF_ERROR(CheckSlots(bundle));
  // Two passes: every instruction reads the registers as they were before any
  // instruction of the bundle wrote.
  for (const Instr& instr : bundle) RETURN_IF_ERROR(CheckOperands(instr));
  RETURN_IF_ERROR(CheckWrites(bundle));
  for (const Instr& instr : bundle) RETURN_IF_ERROR(IssueOne(instr));
  now_ += BundleCycles(bundle);
  return absl::OkStatus();
}

absl::Status Pipeline::CheckSlots(absl::Span<const Instr> bundle) const {
  std::array<int, kNumSlots> used{};
  for (const Instr& instr : bundle) {
    if (instr.op == Opcode::kNop && bundle.size() > 1) {
      return BrokenAt(instr, "nop must be alone in its bundle");
    }
    const SlotMask slots = Info(instr.op).slots;
    for (int s = 0; s < kNumSlots; ++s) {
      if ((slots >> s & 1) != 0 && ++used[s] > machine_.slots[s]) {
        return BrokenAt(instr, absl::StrFormat("slot %s holds %d per bundle",
                                               Name(static_cast<Slot>(s)),
                                               machine_.slots[s]));
      }
    }
  }
  if (machine_.bundle_width > 0 && bundle.size() > machine_.bundle_width) {
    return BrokenAt(bundle[0], absl::StrCat("bundle of ", bundle.size(),
                                            " instructions; the widest is ",
                                            machine_.bundle_width));
  }
  const int loads = used[static_cast<int>(Slot::kLoad)];
  const int stores = used[static_cast<int>(Slot::kStore)];
  const int misc = used[static_cast<int>(Slot::kMisc)];
  if (loads + misc > machine_.Slots(Slot::kLoad) ||
      stores + misc > machine_.Slots(Slot::kStore) ||
      (machine_.load_store_total > 0 &&
       loads + stores + misc > machine_.load_store_total)) {
    return BrokenAt(bundle[0],
                    absl::StrFormat("bundle with %d loads, %d stores, %d misc",
                                    loads, stores, misc));
  }
  return absl::OkStatus();
}

absl::Status Pipeline::CheckWrites(absl::Span<const Instr> bundle) const {
  std::array<uint64_t, kNumRegClasses> written{};
  for (const Instr& instr : bundle) {
    const RegUses uses = UsesOf(instr);
    if (!uses.has_write) continue;
    uint64_t& mask = written[static_cast<int>(uses.write.cls)];
    const uint64_t bit = uint64_t{1} << (uses.write.index & 63);
    if ((mask & bit) != 0) {
      return BrokenAt(instr, absl::StrCat(RegName(uses.write),
                                          " is written twice in the bundle"));
    }
    mask |= bit;
  }
  return absl::OkStatus();
}

absl::Status Pipeline::CheckOperands(const Instr& instr) const {
  if (!Supports(machine_, instr.op)) {
    return BrokenAt(instr, absl::StrCat("chip ", machine_.name, " has no ",
                                        Info(instr.op).mnemonic));
  }
  const RegUses uses = UsesOf(instr);
  for (int i = 0; i < uses.num_reads; ++i) {
    const RegRef& reg = uses.reads[i];
    if (reg.index >= machine_.Registers(reg.cls)) {
      return BrokenAt(instr, absl::StrCat("the chip has no ", RegName(reg)));
    }
    const int64_t ready = reg_ready_[static_cast<int>(reg.cls)][reg.index];
    if (ready > now_) {
      return BrokenAt(instr,
                      absl::StrCat(RegName(reg), " is read ", ready - now_,
                                   " cycles before it is ready"));
    }
  }
  if (uses.has_write &&
      uses.write.index >= machine_.Registers(uses.write.cls)) {
    return BrokenAt(instr,
                    absl::StrCat("the chip has no ", RegName(uses.write)));
  }
  return absl::OkStatus();
}

absl::Status Pipeline::TakeUnit(const Instr& instr) {
  const ExecUnit unit = Info(instr.op).unit;
  if (unit == ExecUnit::kNone) return absl::OkStatus();
  if (instr.unit >= machine_.Units(unit)) {
    return BrokenAt(instr, absl::StrCat("the chip has ", machine_.Units(unit),
                                        " such units"));
  }
  int64_t& free = unit_free_[static_cast<int>(unit)][instr.unit];
  if (free > now_) {
    return BrokenAt(instr, absl::StrCat("unit ", Name(unit), " is busy for ",
                                        free - now_, " more cycles"));
  }
  free = now_ + IntervalOf(instr, machine_);
  return absl::OkStatus();
}

absl::Status Pipeline::IssueOne(const Instr& instr) {
  const InstrInfo& info = Info(instr.op);
  RETURN_IF_ERROR(TakeUnit(instr));
  if (info.slots & Bit(Slot::kMxu)) {
    RETURN_IF_ERROR(IssueMxu(instr));
  }
  if (info.pops != Fifo::kNone) {
    RETURN_IF_ERROR(Pop(instr));
  }
  if (info.pushes == Fifo::kTranspose) {
    RETURN_IF_ERROR(IssueTranspose(instr));
  } else if (info.pushes != Fifo::kNone) {
    PushResults(instr);
  }
  const RegUses uses = UsesOf(instr);
  return uses.has_write ? Write(instr, uses.write) : absl::OkStatus();
}

absl::Status Pipeline::Write(const Instr& instr, const RegRef& reg) {
  int64_t& ready = reg_ready_[static_cast<int>(reg.cls)][reg.index];
  const int64_t mine = now_ + LatencyOf(instr, machine_);
  if (ready > now_ && mine <= ready) {
    return BrokenAt(instr, absl::StrCat("an earlier write of ", RegName(reg),
                                        " arrives at the same time or later"));
  }
  ready = mine;
  return absl::OkStatus();
}

absl::Status Pipeline::Pop(const Instr& instr) {
  const Fifo fifo = Info(instr.op).pops;
  Queue& q = queue(fifo, instr.unit);
  if (q.size() == 0) {
    return BrokenAt(instr, absl::StrCat("FIFO ", Name(fifo), " is empty"));
  }
  const Result& result = q.results[q.head];
  if (result.ready > now_) {
    return BrokenAt(instr,
                    absl::StrCat("popped ", result.ready - now_,
                                 " cycles before the result of ",
                                 Info(result.producer).mnemonic, " is ready"));
  }
  const int depth = machine_.FifoDepth(fifo);
  if (depth > 0 && q.size() > depth &&
      q.results[q.head + depth].ready <= now_) {
    return BrokenAt(instr, absl::StrCat("FIFO ", Name(fifo), " holds ", depth,
                                        " results and overflowed"));
  }
  if (fifo == Fifo::kMrf && (result.producer == Opcode::kVmatmulS8) !=
                                (instr.op == Opcode::kVpopMrfS32)) {
    return BrokenAt(instr, absl::StrCat("pops a result of ",
                                        Info(result.producer).mnemonic));
  }
  if (++q.head == q.results.size()) {
    q.results.clear();
    q.head = 0;
  } else if (q.head > 256) {  // a stream that never runs empty
    q.results.erase(q.results.begin(), q.results.begin() + q.head);
    q.head = 0;
  }
  return absl::OkStatus();
}

void Pipeline::PushResults(const Instr& instr) {
  Queue& q = queue(Info(instr.op).pushes, instr.unit);
  const int n = ResultsOf(instr, machine_);
  const int spacing = ResultSpacing(instr, machine_);
  int64_t ready = now_ + LatencyOf(instr, machine_);
  for (int i = 0; i < n; ++i, ready += spacing) {
    ready = std::max(ready, q.last_ready + spacing);
    q.results.push_back({ready, instr.op});
    q.last_ready = ready;
  }
}

absl::Status Pipeline::CheckDrained() const {
  for (int c = 0; c < kNumRegClasses; ++c) {
    for (int i = 0; i < 64; ++i) {
      if (reg_ready_[c][i] > now_) {
        return absl::InternalError(absl::StrCat(
            RegName({static_cast<RegClass>(c), static_cast<uint8_t>(i)}),
            " is still being written"));
      }
    }
  }
  for (int f = 0; f < kNumFifos; ++f) {
    for (int u = 0; u < kMaxUnits; ++u) {
      if (const int n = queues_[f * kMaxUnits + u].size(); n > 0) {
        return absl::InternalError(
            absl::StrFormat("FIFO %s of unit %d still holds %d results",
                            Name(static_cast<Fifo>(f)), u, n));
      }
    }
  }
  for (int e = 0; e < kNumUnits; ++e) {
    for (int64_t free : unit_free_[e]) {
      if (free > now_) {
        return absl::InternalError(absl::StrCat(
            "unit ", Name(static_cast<ExecUnit>(e)), " is still busy"));
      }
    }
  }
  for (int u = 0; u < kMaxUnits; ++u) {
    if (streams_[u].open || mxus_[u].subr || mxus_[u].mubr) {
      return absl::InternalError("a transpose or a vmatprep is half done");
    }
  }
  return absl::OkStatus();
}

std::vector<int> Pipeline::FifoSizes() const {
  std::vector<int> sizes;
  for (const Queue& q : queues_) sizes.push_back(q.size());
  return sizes;
}

std::vector<int32_t> Pipeline::Signature() const {
  std::vector<int32_t> s;
  s.reserve(512);
  auto add = [&](int64_t time) {
    s.push_back(static_cast<int32_t>(std::max<int64_t>(0, time - now_)));
  };
  for (const auto& cls : reg_ready_) {
    for (int64_t ready : cls) add(ready);
  }
  for (const auto& unit : unit_free_) {
    for (int64_t free : unit) add(free);
  }
  for (const Queue& q : queues_) {
    s.push_back(q.size());
    add(q.last_ready);
    for (size_t i = q.head; i < q.results.size(); ++i) {
      add(q.results[i].ready);
      s.push_back(static_cast<int32_t>(q.results[i].producer));
    }
  }
  for (const XluStream& stream : streams_) {
    s.push_back(stream.open);
    if (stream.open) s.push_back(static_cast<int32_t>(now_ - stream.first));
  }
  for (const MxuState& mxu : mxus_) {
    s.push_back(mxu.subr + 2 * mxu.mubr);
    if (mxu.subr) add(mxu.subr_ready);
    if (mxu.mubr) add(mxu.mubr_ready);
    for (int i = 0; i < 2; ++i) {
      add(mxu.latch_ready[i]);
      add(mxu.push_ready[i]);
    }
  }
  return s;
}

}  // namespace ptxla::isa
