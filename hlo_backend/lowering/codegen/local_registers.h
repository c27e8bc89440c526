// Which of a block's own registers (not the global ones) an instruction reads
// and writes.
//
//   LocalRegisters locals(registers);
//   locals.ForEachRead(v, [&](int32_t reg) { ++reads[reg]; });
//   if (locals.Writes(v)) ...                              // v.dst
#ifndef PTXLA_HLO_BACKEND_LOWERING_CODEGEN_LOCAL_REGISTERS_H_
#define PTXLA_HLO_BACKEND_LOWERING_CODEGEN_LOCAL_REGISTERS_H_

#include <cstdint>

#include "absl/types/span.h"
#include "hlo_backend/lowering/codegen/vcode.h"

namespace ptxla::codegen {

class LocalRegisters {
 public:
  explicit LocalRegisters(absl::Span<const VRegister> registers)
      : registers_(registers) {}

  int ClassOf(int32_t reg) const {
    return static_cast<int>(registers_[reg].cls);
  }

  // A masked store names the mask that it reads in dst.
  bool Writes(const VInstr& v) const {
    const FieldClasses& f = FieldsOf(v.op);
    return !f.dst_is_read && IsLocal(f.dst, v.dst);
  }

  // A register that is named twice is visited twice.
  template <class Fn>
  void ForEachRead(const VInstr& v, Fn fn) const {
    const FieldClasses& f = FieldsOf(v.op);
    if (IsLocal(f.a, v.a)) fn(v.a);
    if (IsLocal(f.b, v.b)) fn(v.b);
    if (IsLocal(f.c, v.c)) fn(v.c);
    if (f.dst_is_read && IsLocal(f.dst, v.dst)) fn(v.dst);
    if (IsLocal(0, v.guard)) fn(v.guard);
  }

 private:
  bool IsLocal(int8_t cls, int32_t reg) const {
    return cls >= 0 && reg != kNone && !registers_[reg].global;
  }

  absl::Span<const VRegister> registers_;
};

}  // namespace ptxla::codegen

#endif  // PTXLA_HLO_BACKEND_LOWERING_CODEGEN_LOCAL_REGISTERS_H_
