#include "isa/machine_model.h"

namespace ptxla::isa {

MachineModel MachineModel::Unit() {
  MachineModel m;
  m.name = "unit";
  m.slots.fill(1);
  for (auto& row : m.latency) row.fill(1);
  m.interval.fill(1);
  m.fifo_depth.fill(64);
  return m;
}

void MachineModel::SetLatency(LatencyKey key, int cycles) {
  latency[static_cast<int>(key)].fill(static_cast<int16_t>(cycles));
}

int MachineModel::Units(ExecUnit unit) const {
  switch (unit) {
    case ExecUnit::kXlu:
    case ExecUnit::kXluPop:
      return xlus;
    case ExecUnit::kMatmul:
    case ExecUnit::kPush:
    case ExecUnit::kPrep:
    case ExecUnit::kMrfPop:
      return mxus;
    default:
      return 1;
  }
}

int MachineModel::Registers(RegClass cls) const {
  switch (cls) {
    case RegClass::kVector:
      return vregs;
    case RegClass::kScalar:
      return sregs;
    case RegClass::kMask:
      return masks;
    case RegClass::kPredicate:
      return predicates;
  }
  return 0;
}

bool Supports(const MachineModel& m, Opcode op) {
  const InstrInfo& info = Info(op);
  if (info.latency != LatencyKey::kNone && m.Latency(info.latency) == 0) {
    return false;
  }
  return m.Interval(info.interval) != 0;
}

int ResultsOf(const Instr& instr, const MachineModel& m) {
  const InstrInfo& info = Info(instr.op);
  if (info.pushes == Fifo::kNone) return 0;
  if (info.pushes == Fifo::kMrf) {
    return MxuRows(instr.op) / kSublanes * (m.mxu_cols / kLanes);
  }
  if (info.pushes == Fifo::kDivide) return 2;
  if (info.pushes == Fifo::kTranspose) {
    return IsXposeEnd(instr.op) ? instr.imm : 0;
  }
  return 1;
}

int ResultSpacing(const Instr& instr, const MachineModel& m) {
  switch (Info(instr.op).pushes) {
    case Fifo::kMrf:
      return m.Interval(instr.op == Opcode::kVmatmulS8 ? IntervalKey::kPopS32
                                                       : IntervalKey::kPopF32);
    case Fifo::kTranspose:
      return m.Interval(Info(instr.op).interval);
    case Fifo::kDivide:
      return 0;
    default:
      return 1;
  }
}

}  // namespace ptxla::isa
