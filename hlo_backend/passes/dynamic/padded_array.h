// An array of bounds that stands for one whose sizes are known at run time.
//
//   f32[<=8,128] x, 3 of 8 rows count  ==>  data = f32[8,128], sizes = {n,
//   null}
//
// What lies beyond the sizes is any value: who lets elements meet puts the
// neutral one there first (PaddedBuilder::Filled).
#ifndef PTXLA_HLO_BACKEND_PASSES_DYNAMIC_PADDED_ARRAY_H_
#define PTXLA_HLO_BACKEND_PASSES_DYNAMIC_PADDED_ARRAY_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "hlo_backend/ir/builder.h"

namespace ptxla::hlo {

struct PaddedArray {
  Instruction* data = nullptr;  // of static shape
  // s32[] for each dimension; null: as many as the bound.
  std::vector<Instruction*> sizes;

  bool IsDynamic(int64_t d) const { return sizes[d] != nullptr; }
  bool AnyDynamic() const;
};

using PaddedOperands = absl::Span<const PaddedArray>;
using DimensionSizes = std::vector<Instruction*>;  // as PaddedArray::sizes

std::vector<Instruction*> DataOf(PaddedOperands arrays);
// `x` all of which counts.
PaddedArray Whole(Instruction* x);
// The shape, also inside of tuples, with every dimension at its bound.
Shape Bounds(const Shape& shape);

// Makes the arithmetic of sizes, s32[], and of what they leave out.
class PaddedBuilder {
 public:
  explicit PaddedBuilder(Computation* computation) : b_(computation) {}

  Builder& builder() { return b_; }
  void set_metadata(std::shared_ptr<const Metadata> metadata) {
    b_.set_metadata(std::move(metadata));
  }

  // The same instruction of these operands, with every size at its bound.
  Instruction* Like(const Instruction& i,
                    absl::Span<Instruction* const> operands);
  // The first `count` arrays of a result, which are of one shape.
  std::vector<PaddedArray> Each(Instruction* result, int64_t count,
                                const DimensionSizes& sizes);
  // Of arrays whose dimensions are those of the first one.
  DimensionSizes Common(PaddedOperands arrays);
  Instruction* Number(int64_t n);
  Instruction* SizeOf(const PaddedArray& x, int64_t d);
  // Of two arrays whose elements meet. Null: both have all of the bound.
  Instruction* Smaller(Instruction* a, Instruction* b);
  // pred of `dims`: index `d` is below s32[] `limit`.
  Instruction* Below(const DimVector& dims, int64_t d, Instruction* limit);
  // pred: the element counts, by the sizes of `dimensions`; null: all do.
  Instruction* Counts(const PaddedArray& x, const DimVector& dimensions);
  // The data with the scalar `value` wherever an element does not count, by
  // the sizes of `dimensions`.
  Instruction* Filled(const PaddedArray& x, Instruction* value,
                      const DimVector& dimensions);

 private:
  Builder b_;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_DYNAMIC_PADDED_ARRAY_H_
