// The rules of matrix units and of transposes, which carry state from one
// instruction to the next.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "isa/broken.h"
#include "isa/pipeline.h"

namespace ptxla::isa {
absl::Status Pipeline::IssueMxu(const Instr& instr) {
  if (Info(instr.op).unit == ExecUnit::kPrep && machine_.mxu_cols == kLanes) {
    return BrokenAt(instr, "a 128-wide array takes no second operand");
  }
  MxuState& mxu = mxus_[instr.unit];
  if (instr.op == Opcode::kVmatprepSubr || instr.op == Opcode::kVmatprepMubr) {
    const bool subr = instr.op == Opcode::kVmatprepSubr;
    if (subr ? mxu.subr : mxu.mubr) {
      return BrokenAt(instr, "the operand before was not used");
    }
    (subr ? mxu.subr : mxu.mubr) = true;
    (subr ? mxu.subr_ready : mxu.mubr_ready) =
        now_ + LatencyOf(instr, machine_);
    return absl::OkStatus();
  }
  if (IsMatpush(instr.op)) {
    if (instr.c >= machine_.staging) return BrokenAt(instr, "no such staging");
    if (instr.b < 1 || instr.b > (machine_.mxu_cols == kLanes ? 1 : 3)) {
      return BrokenAt(instr, "no such block on this array");
    }
    if (instr.imm < 0 || instr.imm + MxuRows(instr.op) > kLanes) {
      return BrokenAt(instr, "rows outside the block of 128");
    }
    if (mxu.subr && mxu.subr_ready > now_) {
      return BrokenAt(instr, "its vmatprep.subr is not over");
    }
    mxu.subr = false;
    if (mxu.push_ready[instr.c] > now_) {
      return BrokenAt(instr, "the staging register is still being latched");
    }
    mxu.latch_ready[instr.c] =
        std::max(mxu.latch_ready[instr.c], now_ + LatencyOf(instr, machine_));
    return absl::OkStatus();
  }
  if (!IsMatmul(instr.op)) return absl::OkStatus();
  if (mxu.mubr && mxu.mubr_ready > now_) {
    return BrokenAt(instr, "its vmatprep.mubr is not over");
  }
  mxu.mubr = false;
  if (instr.c == 0 || instr.c == kNoReg) return absl::OkStatus();
  const int stage = instr.c - 1;
  if (stage >= machine_.staging) return BrokenAt(instr, "no such staging");
  if (mxu.latch_ready[stage] > now_) {
    return BrokenAt(instr,
                    absl::StrCat("latches ", mxu.latch_ready[stage] - now_,
                                 " cycles too early after the last push"));
  }
  mxu.push_ready[stage] = now_ + machine_.Latency(LatencyKey::kLatchToPush);
  return absl::OkStatus();
}

// Results stream out one per interval: the first not before `latency` after the
// first push, the last not before `latency` after the last push.
absl::Status Pipeline::IssueTranspose(const Instr& instr) {
  XluStream& stream = streams_[instr.unit];
  if (IsXposeStart(instr.op) == stream.open) {
    return BrokenAt(instr, stream.open ? "the transpose before has not ended"
                                       : "no transpose was started");
  }
  if (!stream.open) stream = {true, now_};
  if (!IsXposeEnd(instr.op)) return absl::OkStatus();
  stream.open = false;
  Queue& q = queue(Fifo::kTranspose, instr.unit);
  const int n = ResultsOf(instr, machine_);
  const int spacing = ResultSpacing(instr, machine_);
  const int latency = LatencyOf(instr, machine_);
  for (int i = 0; i < n; ++i) {
    q.last_ready = std::max({stream.first + latency + i * spacing,
                             now_ + latency - (n - 1 - i) * spacing,
                             q.last_ready + spacing});
    q.results.push_back({q.last_ready, instr.op});
  }
  return absl::OkStatus();
}

}  // namespace ptxla::isa
