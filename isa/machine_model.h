// A core as the ISA sees it: every name of isa/keys.h resolved to a number. It
// is a plain value, made from a chip file (isa/from_chip_spec.h) or by Unit().
//
//   MachineModel m = MachineModel::Unit();
//   m.SetLatency(LatencyKey::kValuF32, 2);
//   LatencyOf(add, m)   // 2
#ifndef PTXLA_ISA_MACHINE_MODEL_H_
#define PTXLA_ISA_MACHINE_MODEL_H_

#include <array>
#include <cstdint>
#include <string>

#include "base/units.h"
#include "isa/instruction.h"
#include "isa/keys.h"

namespace ptxla::isa {

struct MachineModel {
  std::string name;
  Hertz clock{1e9};
  int cores = 1;  // TensorCores that one program may use (megacore)

  // Registers of one core. At most 64, 64, 32, 32.
  int vregs = 64;
  int sregs = 32;
  int masks = 16;
  int predicates = 16;

  int mxus = 1;
  int mxu_rows = 128;  // K of the array: 128 or 256
  int mxu_cols = 128;  // N of the array: equals mxu_rows
  int staging = 1;     // staging registers per MXU: 1 (msra) or 2 (and msrb)
  int xlus = 1;

  // Instructions per bundle. load_store_total bounds loads + stores + misc;
  // misc instructions count as a load and as a store too.
  std::array<int, kNumSlots> slots{};
  int load_store_total = 2;
  int bundle_width = 0;  // instructions of all slots together; 0: no limit

  // Cycles; 0 = the chip lacks the instructions that use the key.
  std::array<std::array<int16_t, kMaxUnits>, kNumLatencies> latency{};
  std::array<int16_t, kNumIntervals> interval{};

  // Finished results that a FIFO can hold before its pop; 0: no known limit.
  std::array<int, kNumFifos> fifo_depth{};

  int64_t vmem_bytes = 16 << 20;
  int64_t smem_bytes = 1 << 20;
  // VMEM rows of 512 B are spread over this many banks (row number modulo
  // banks); two loads of one bundle must not touch the same bank. 0: no rule.
  int vmem_banks = 0;
  // Bundles that follow a branch: a loop body is never shorter than 1 + this.
  int branch_delay_slots = 0;

  // Every latency, interval and slot count 1; a 128x128 MXU, an XLU; FIFOs
  // that hold 64 results; 64 vector registers; no bank rule; clock 1 GHz.
  static MachineModel Unit();

  void SetLatency(LatencyKey key, int cycles);  // on all units
  void SetLatency(LatencyKey key, int unit, int cycles) {
    latency[static_cast<int>(key)][unit] = static_cast<int16_t>(cycles);
  }
  void SetInterval(IntervalKey key, int cycles) {
    interval[static_cast<int>(key)] = static_cast<int16_t>(cycles);
  }
  void SetSlots(Slot slot, int n) { slots[static_cast<int>(slot)] = n; }
  void SetFifoDepth(Fifo fifo, int n) {
    fifo_depth[static_cast<int>(fifo)] = n;
  }
  int Latency(LatencyKey key, int unit = 0) const {
    return latency[static_cast<int>(key)][unit];
  }
  int Interval(IntervalKey key) const {
    return interval[static_cast<int>(key)];
  }
  int Slots(Slot slot) const { return slots[static_cast<int>(slot)]; }
  int FifoDepth(Fifo fifo) const { return fifo_depth[static_cast<int>(fifo)]; }
  // Number of `unit`s: mxus, xlus or 1.
  int Units(ExecUnit unit) const;
  int Registers(RegClass cls) const;
};

// False if the chip's file gives no latency for it.
bool Supports(const MachineModel& m, Opcode op);
// Cycles until the written register may be read; for an instruction that
// pushes a FIFO, until its first result may be popped; 0 if there is neither.
inline int LatencyOf(const Instr& instr, const MachineModel& m) {
  const LatencyKey key = Info(instr.op).latency;
  return key == LatencyKey::kNone ? 0 : m.Latency(key, instr.unit);
}
// Cycles for which it keeps its unit.
inline int IntervalOf(const Instr& instr, const MachineModel& m) {
  return m.Interval(Info(instr.op).interval);
}
// Results that it sends to its FIFO: 1; 2 for sdivrem; imm for the end of a
// transpose and 0 for its start and middle; for a matmul, rows / 8 on a 128
// array, twice that on a 256 array (isa/mxu.h gives the order).
int ResultsOf(const Instr& instr, const MachineModel& m);
// Cycles between successive results of one instruction (first: LatencyOf).
int ResultSpacing(const Instr& instr, const MachineModel& m);

}  // namespace ptxla::isa

#endif  // PTXLA_ISA_MACHINE_MODEL_H_
