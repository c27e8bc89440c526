#include "hlo_backend/passes/products/member_planes.h"

#include "hlo_backend/analysis/member_rows.h"
#include "hlo_backend/analysis/product_batch.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/passes/layout/dimension_order.h"

namespace ptxla::hlo {
namespace {

bool LiesInRows(const Instruction& i, int operand, const Shape& shape) {
  return i.opcode() == Opcode::kDot &&
         MembersInRows(shape, OperandBatch(i, operand)).has_value();
}

Instruction* Planes(Instruction* parameter, int generation) {
  Computation* c = parameter->parent();
  const Shape& shape = parameter->shape();
  Instruction* as_it_lies =
      c->Add(Opcode::kBitcast, RowMajorOf(shape), {parameter});
  Shape planes = shape;
  planes.set_layout(Layout::RowMajor(shape.rank()));
  return c->Add(Opcode::kTranspose, WithTpuLayout(planes, generation),
                {as_it_lies}, DimensionsAttrs{PlacesOf(shape)});
}

}  // namespace

bool ReadsMembersInRows(const Instruction& kernel) {
  if (kernel.opcode() != Opcode::kFusion) {
    return kernel.opcode() == Opcode::kDot &&
           (LiesInRows(kernel, 0, kernel.operand(0)->shape()) ||
            LiesInRows(kernel, 1, kernel.operand(1)->shape()));
  }
  for (const Instruction* i : kernel.fused()->instructions()) {
    for (int o = 0; o < i->operand_count() && o < 2; ++o) {
      if (i->operand(o)->opcode() == Opcode::kParameter &&
          LiesInRows(*i, o, i->operand(o)->shape())) {
        return true;
      }
    }
  }
  return false;
}

bool MakeMemberPlanes(Computation* body, int generation) {
  bool changed = false;
  for (Instruction* i : body->PostOrder()) {
    for (int o = 0; o < i->operand_count() && o < 2; ++o) {
      Instruction* value = i->operand(o);
      if (value->opcode() != Opcode::kParameter ||
          !LiesInRows(*i, o, value->shape())) {
        continue;
      }
      i->ReplaceOperand(o, Planes(value, generation));
      changed = true;
    }
  }
  return changed;
}

}  // namespace ptxla::hlo
