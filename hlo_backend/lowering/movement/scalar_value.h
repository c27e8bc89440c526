// A scalar operand in every element of a register: what a pad fills with.
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_SCALAR_VALUE_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_SCALAR_VALUE_H_

#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/lowering/kernel_plan.h"
#include "hlo_backend/lowering/physical_array.h"

namespace ptxla::lowering {

class ScalarValue {
 public:
  // A constant becomes part of the code; else the operand comes by SMEM.
  void Add(const hlo::Instruction& i, int operand, const PhysicalArray& type,
           Tiling* tiling);
  // A global of the open scope.
  codegen::Vec Emit(codegen::CodeBuilder& b) const;

 private:
  int bits_ = 32;
  int window_ = -1;
  uint32_t word_ = 0;
};

// Adds the window that brings a scalar of 32 bits or fewer to SMEM; returns its
// number. SLoad(0, address, 0) reads it.
int AddScalarWindow(int arg, Tiling* tiling);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_SCALAR_VALUE_H_
