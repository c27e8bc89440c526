#include "hlo_backend/passes/layout/point_work.h"

#include <algorithm>
#include <utility>

#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/analysis/vector_loops.h"
#include "hlo_backend/passes/control_edges.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/layout/dimension_order.h"

namespace ptxla::hlo {
namespace {

// Dimensions of size 1 come or go in front of the last two.
bool AddsUnits(const Instruction& i) {
  if (i.opcode() != Opcode::kReshape) return false;
  const Shape& from = i.operand(0)->shape();
  return from.rank() >= 3 && i.shape().rank() >= 3 &&
         DropOuterUnitDims(from.dims()) == DropOuterUnitDims(i.shape().dims());
}

bool IsElementwiseWork(const Instruction& i) {
  return IsLoopElementwise(i) && i.opcode() != Opcode::kCopy &&
         i.operand_count() > 0;
}

}  // namespace

bool HasFewNumbers(const Instruction& i) {
  return i.shape().IsArray() && !i.shape().has_layout() &&
         i.shape().rank() >= 2 && i.shape().dims().back() > 1 &&
         i.shape().dims().back() < kLanes;
}

bool CutsPoints(const Instruction& i) {
  const int last = i.shape().rank() - 1;
  if (i.opcode() == Opcode::kSlice) {
    return i.shape().dim(last) == i.operand(0)->shape().dim(last);
  }
  if (i.opcode() == Opcode::kPad) {
    const PaddingDim& d = i.attrs<PadAttrs>().dims[last];
    return d.low == 0 && d.high == 0 && d.interior == 0;
  }
  return i.opcode() == Opcode::kConcatenate && i.dimensions()[0] != last;
}

bool CutsNumbers(const Instruction& i) {
  return (i.opcode() == Opcode::kSlice || i.opcode() == Opcode::kPad ||
          i.opcode() == Opcode::kConcatenate) &&
         !CutsPoints(i);
}

bool IsPointWork(const Instruction& i) {
  return (IsElementwiseWork(i) || CutsPoints(i) || CutsNumbers(i) ||
          AddsUnits(i)) &&
         !HasControlEdges(i);
}

bool IsOneNumber(const Instruction& i) {
  if (i.opcode() != Opcode::kReshape || i.shape().rank() < 2) return false;
  const Shape& from = i.operand(0)->shape();
  return i.shape().dims().back() == 1 && from.rank() + 1 == i.shape().rank() &&
         std::equal(from.dims().begin(), from.dims().end(),
                    i.shape().dims().begin());
}

bool SplitsLanes(const Instruction& i) {
  if (i.opcode() != Opcode::kReshape || i.shape().rank() == 0 ||
      i.operand(0)->shape().rank() == 0) {
    return false;
  }
  const int64_t lanes = i.operand(0)->shape().dims().back();
  const int64_t numbers = i.shape().dims().back();
  return numbers < kLanes && lanes > numbers && lanes % numbers == 0;
}

bool JoinsLanes(const Instruction& i) {
  if (i.opcode() != Opcode::kReshape || i.shape().rank() == 0 ||
      i.operand(0)->shape().rank() == 0) {
    return false;
  }
  const int64_t lanes = i.shape().dims().back();
  const int64_t numbers = i.operand(0)->shape().dims().back();
  return numbers < kLanes && lanes > numbers && lanes % numbers == 0;
}

void CutInOrder(Instruction* i, const DimVector& order) {
  if (i->opcode() == Opcode::kSlice) {
    SliceAttrs a = i->attrs<SliceAttrs>();
    a.starts = Permuted(a.starts, order);
    a.limits = Permuted(a.limits, order);
    a.strides = Permuted(a.strides, order);
    i->set_attributes(std::move(a));
  } else if (i->opcode() == Opcode::kPad) {
    PadAttrs a;
    for (const int64_t d : order) {
      a.dims.push_back(i->attrs<PadAttrs>().dims[d]);
    }
    i->set_attributes(std::move(a));
  } else if (i->opcode() == Opcode::kConcatenate) {
    i->set_attributes(
        DimensionsAttrs{DimVector{Inverse(order)[i->dimensions()[0]]}});
  }
}

}  // namespace ptxla::hlo
