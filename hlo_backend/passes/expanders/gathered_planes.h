// Windows of a gather or scatter that are whole planes of its operand, copied
// as they lie: the weights of the experts that tokens go to, a cache's new
// keys.
//
//   bf16[8,2,512,128] gather(bf16[4,512,128] weights, s32[8,2] experts)
//   ==> bf16[16,512,128] gather(weights, s32[16])   (analysis/plane_gather.h)
//
// Planes of rows that would leave their lanes empty are named as compact
// layouts have them, columns first:
//
//   bf16[8,4096,16] gather(bf16[16,4096,16] adapters, s32[8] of)
//   ==> transpose(bf16[8,16,4096] gather(transpose(adapters), of))
//
//   bf16[32,512,4,128] scatter(cache, s32[32,2] places, bf16[32,4,128] keys)
//   ==> bf16[16384,4,128] scatter(cache, s32[32], keys)
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_GATHERED_PLANES_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_GATHERED_PLANES_H_

#include <cstdint>

#include "hlo_backend/passes/expanders/row_indices.h"

namespace ptxla::hlo {

// What windows of `sizes` of an array have of it, where that is planes.
class NamedPlanes {
 public:
  NamedPlanes(PrimitiveType type, const Shape& x, const DimVector& sizes,
              const RowIndices& rows);
  bool are_copied() const { return are_copied_; }
  // Sizes of so many planes, before they are turned.
  DimVector Stack(int64_t planes) const;
  // The last two dimensions of a stack change places, where planes lie so.
  Instruction* Turned(Builder& b, Instruction* stack) const;
  // The array as planes, turned.
  Instruction* Table(Builder& b, Instruction* x, int64_t rows) const;

 private:
  DimVector order_;  // of the array's dimensions, those of rows first
  DimVector named_;  // of a plane, without those of size 1
  bool turned_ = false, are_copied_ = false;
};

// [rows.count(), plane...] of `x`, the operand of `gather` without what windows
// leave out; nullptr, if its windows are not copied as they lie.
Instruction* GatherPlanes(Builder& b, const Instruction& gather, Instruction* x,
                          RowIndices& rows);

// `x`, whose planes `updates` replace: [rows.count(), plane...], in the order
// of the array. nullptr: they are not copied as they lie.
Instruction* ReplacePlanes(Builder& b, const Instruction& scatter,
                           Instruction* x, Instruction* updates,
                           const DimVector& sizes, Computation* body,
                           RowIndices& rows);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_GATHERED_PLANES_H_
