// Which memory holds each value of a scheduled module: what the compiler
// decides and lowering reads.
//
//   BufferRef r = plan.Of(fusion);              // an array
//   BufferRef m = plan.Of(fusion, {1});         // element 1 of its tuple
//   const PlannedBuffer& b = plan.buffers[r.buffer];
//
// get-tuple-element, tuple and bitcast own nothing: they refer to the memory
// of their operands. X64SplitLow and X64SplitHigh refer to a plane of their
// operand's buffer, and the operands of an X64Combine to the planes of its
// result where that could be arranged: where plan.Of(operand) is not inside
// plan.Of(combine), the combine is a copy. The same holds for
// what is updated in place (InPlaceOperand), for fusions with aliased
// outputs, and for the root: where the result must lie elsewhere than the
// operand, copy insertion has put a copy.
#ifndef PTXLA_HLO_BACKEND_ANALYSIS_BUFFER_PLAN_H_
#define PTXLA_HLO_BACKEND_ANALYSIS_BUFFER_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "base/check.h"
#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {

// The operand whose memory the result takes over, because only parts of it are
// written: of dynamic-update-slice and scatter. -1: none.
inline int InPlaceOperand(const Instruction& i) {
  return i.opcode() == Opcode::kDynamicUpdateSlice ||
                 i.opcode() == Opcode::kScatter
             ? 0
             : -1;
}

// What lies in memory before the program starts, and stays: constants and the
// device's number.
inline bool IsPreset(const Instruction& i) {
  return i.IsConstant() || i.opcode() == Opcode::kPartitionId ||
         i.opcode() == Opcode::kReplicaId;
}

enum class PlannedKind { kArgument, kOutput, kTemp, kConstant };

struct PlannedBuffer {
  int id = 0;  // its index in BufferPlan::buffers
  std::string name;
  int64_t bytes = 0;  // with the padding of the tiled layout
  PlannedKind kind = PlannedKind::kTemp;
  int memory_space = kMemoryHbm;
  int64_t offset = 0;  // in its space; buffers of other times may share it
  int alias_of = -1;   // an output that lies in an argument's memory
  std::string label;   // layer, from op_name metadata
};

struct BufferRef {
  int buffer = -1;     // -1: no memory (tokens)
  int64_t offset = 0;  // from the start of the buffer
  int64_t bytes = 0;
  bool Contains(const BufferRef& o) const {
    return buffer == o.buffer && offset <= o.offset &&
           o.offset + o.bytes <= offset + bytes;
  }
};

struct BufferPlan {
  std::vector<PlannedBuffer> buffers;
  // One entry per leaf of the result, in leaf order (ForEachLeaf).
  absl::flat_hash_map<const Instruction*, std::vector<BufferRef>> leaves;

  // The leaf at `index`; the first leaf of an array. CHECK-fails for an
  // instruction that the plan does not know.
  BufferRef Of(const Instruction& instruction,
               absl::Span<const int64_t> index = {}) const {
    auto it = leaves.find(&instruction);
    CHECK(it != leaves.end()) << instruction.name() << " has no memory";
    int leaf = 0, found = -1;
    ForEachLeaf(instruction.shape(), [&](const Shape&, const ShapeIndex& at) {
      if (absl::MakeConstSpan(at) == index) found = leaf;
      ++leaf;
    });
    CHECK_GE(found, 0) << instruction.name();
    return it->second[found];
  }
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_ANALYSIS_BUFFER_PLAN_H_
