#include "hlo_backend/lowering/codegen/spill_code.h"

#include <algorithm>

#include "base/check.h"
#include "hlo_backend/lowering/codegen/spaces.h"

namespace ptxla::codegen {
int32_t SpillCode::NewLocal(isa::RegClass cls) {
  VRegister reg;
  reg.cls = cls;
  s_.registers.push_back(reg);
  return static_cast<int32_t>(s_.registers.size()) - 1;
}

VInstr SpillCode::Access(isa::Opcode op, int slot) {
  if (s_.base == kNone) {
    s_.base = NewLocal(isa::RegClass::kScalar);
    // Scratch begins at a whole number of bank cycles (isa::LayoutVmem).
    s_.registers[s_.base].bank_group = 0;
    s_.registers[s_.base].bank_offset = area_.offset;
    new_base_ = true;
  }
  VInstr v;
  v.op = op;
  v.space = static_cast<int16_t>(kSpillSpace);
  v.a = s_.base;
  v.imm = static_cast<int32_t>(slot * isa::kVregBytes);
  s_.use.slots = std::max(s_.use.slots, slot + 1);
  return v;
}

void SpillCode::Store(isa::RegClass cls, int32_t reg, int slot) {
  if (cls == isa::RegClass::kMask) {
    VInstr ones;
    ones.op = isa::Opcode::kVimm;
    ones.dst = NewLocal(isa::RegClass::kVector);
    ones.imm = -1;
    VInstr words;
    words.op = isa::Opcode::kVsel;
    words.dst = NewLocal(isa::RegClass::kVector);
    words.c = reg;
    words.a = ones.dst;
    words.imm = 0;
    out_.push_back(ones);
    out_.push_back(words);
    reg = words.dst;
  } else {
    CHECK(cls == isa::RegClass::kVector);
  }
  VInstr store = Access(isa::Opcode::kVst, slot);
  store.b = reg;
  out_.push_back(store);
  ++s_.use.spills;
}

int32_t SpillCode::Load(isa::RegClass cls, int slot) {
  VInstr load = Access(isa::Opcode::kVld, slot);
  load.dst = NewLocal(isa::RegClass::kVector);
  out_.push_back(load);
  ++s_.use.fills;
  if (cls == isa::RegClass::kVector) return load.dst;
  CHECK(cls == isa::RegClass::kMask);
  VInstr mask;
  mask.op = isa::Opcode::kVcmpNeS32;
  mask.dst = NewLocal(isa::RegClass::kMask);
  mask.a = load.dst;
  mask.imm = 0;
  out_.push_back(mask);
  return mask.dst;
}

void SpillCode::Finish() {
  if (!new_base_) return;
  VInstr address;
  address.op = isa::Opcode::kSscratch;
  address.dst = s_.base;
  address.imm = area_.offset;
  out_.insert(out_.begin(), address);
  new_base_ = false;
}

}  // namespace ptxla::codegen
