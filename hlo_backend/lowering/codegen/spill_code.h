// Writes the instructions that move one value between its register and its
// slot of the spill area.
#ifndef PTXLA_HLO_BACKEND_LOWERING_CODEGEN_SPILL_CODE_H_
#define PTXLA_HLO_BACKEND_LOWERING_CODEGEN_SPILL_CODE_H_

#include <cstdint>
#include <vector>

#include "hlo_backend/lowering/codegen/spill.h"

namespace ptxla::codegen {

// Calls fn(class, register field) for each register that the instruction
// reads; fn may change it.
template <class Fn>
void ForEachRead(VInstr& v, Fn fn) {
  const FieldClasses& f = FieldsOf(v.op);
  const auto field = [&](int8_t cls, int32_t& reg) {
    if (cls >= 0 && reg != kNone) fn(static_cast<isa::RegClass>(cls), reg);
  };
  field(f.a, v.a);
  field(f.b, v.b);
  field(f.c, v.c);
  if (f.dst_is_read) field(f.dst, v.dst);
  if (v.guard != kNone) fn(isa::RegClass::kPredicate, v.guard);
}

// The register that it writes, or null.
inline int32_t* WrittenBy(VInstr& v) {
  const FieldClasses& f = FieldsOf(v.op);
  return f.dst < 0 || f.dst_is_read || v.dst == kNone ? nullptr : &v.dst;
}

class SpillCode {
 public:
  // Writes into `out`; new registers and counts go to `s`.
  SpillCode(const SpillArea& area, std::vector<VInstr>* out, SpilledBlock* s)
      : area_(area), out_(*out), s_(*s) {}

  int32_t NewLocal(isa::RegClass cls);
  void Store(isa::RegClass cls, int32_t reg, int slot);
  // The new local that gets the value.
  int32_t Load(isa::RegClass cls, int slot);
  // To be called last: the address of the area, in front of everything.
  void Finish();

 private:
  VInstr Access(isa::Opcode op, int slot);

  const SpillArea& area_;
  std::vector<VInstr>& out_;
  SpilledBlock& s_;
  bool new_base_ = false;
};

}  // namespace ptxla::codegen

#endif  // PTXLA_HLO_BACKEND_LOWERING_CODEGEN_SPILL_CODE_H_
