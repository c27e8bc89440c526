// What must come before what in a block, and how many cycles before.
//
// Registers: a read waits for the latency of the write. Memory: memory_order.h.
// FIFOs: the i-th result of a unit's FIFO in source
// order belongs to the i-th pop in source order. Streams that share state (the
// weights of an MXU, a transpose, the random generator, DMA) keep their order.
#ifndef PTXLA_HLO_BACKEND_LOWERING_CODEGEN_DEPENDENCES_H_
#define PTXLA_HLO_BACKEND_LOWERING_CODEGEN_DEPENDENCES_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "hlo_backend/lowering/codegen/vcode.h"
#include "isa/machine_model.h"

namespace ptxla::codegen {

struct Edge {
  int32_t to;
  int32_t cycles;  // least distance between the issues
  int32_t next;    // next edge of the same source, -1: last
};

struct Node {
  int32_t first_edge = -1;
  int32_t num_preds = 0;
  int32_t height = 0;   // longest path to the end of the block, cycles
  int32_t latency = 0;  // of the written register
  int16_t fifo = -1;    // index of the FIFO that it pushes or pops
  int16_t results = 0;  // results pushed
  bool is_pop = false;
  int32_t first_pop = -1;  // push: its pops are pops[first_pop ...]
  int32_t interval = 1;
  int16_t unit = -1;  // index of its unit, -1: none
};

// FIFO and unit indexes: key * kMaxUnits + unit number.
inline constexpr int kNumFifoIndexes = isa::kNumFifos * isa::kMaxUnits;
inline constexpr int kNumUnitIndexes = isa::kNumUnits * isa::kMaxUnits;

// A graph of the instructions. Behind them come joins: nodes that take no time
// and no bundle, where many instructions must come before many.
struct Graph {
  std::vector<Node> nodes;
  std::vector<Edge> edges;
  std::vector<int32_t> pops;  // instruction numbers, grouped by push
  // Per join the instruction before which it stands: those that it waits for
  // come before that one, those that wait for it do not.
  std::vector<int32_t> joins;

  void Connect(int from, int to, int cycles) {
    edges.push_back({to, cycles, nodes[from].first_edge});
    nodes[from].first_edge = static_cast<int32_t>(edges.size()) - 1;
    ++nodes[to].num_preds;
  }
  int Join(int before) {
    nodes.emplace_back();
    joins.push_back(before);
    return static_cast<int>(nodes.size()) - 1;
  }
  // All nodes, of `instructions` and joins, each behind those that it waits
  // for.
  std::vector<int> InOrder(int instructions) const;
};

Graph BuildGraph(absl::Span<const VInstr> instrs,
                 absl::Span<const VRegister> registers,
                 const isa::MachineModel& model, BlockMode mode);

// Virtual registers that the instructions name: [first, last]. Tables of one
// block are as long as this, not as all registers of the code.
struct RegisterRange {
  int32_t first = INT32_MAX, last = -1;

  explicit RegisterRange(absl::Span<const VInstr> instrs);
  size_t size() const { return last < first ? 0 : last - first + 1; }
};

// The Instr with everything but registers, for questions to isa.
isa::Instr Shell(const VInstr& v);

}  // namespace ptxla::codegen

#endif  // PTXLA_HLO_BACKEND_LOWERING_CODEGEN_DEPENDENCES_H_
