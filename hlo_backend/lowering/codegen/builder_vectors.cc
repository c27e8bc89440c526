// CodeBuilder: vectors, masks and VMEM.
#include "base/numerics/bits.h"
#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/codegen/word_bits.h"

namespace ptxla::codegen {
namespace {

// Of numbers whose sign bits are turned over; others' `op` itself.
isa::Opcode SignedCompare(isa::Opcode op) {
  switch (op) {
    case isa::Opcode::kVcmpLtU32:
      return isa::Opcode::kVcmpLtS32;
    case isa::Opcode::kVcmpLeU32:
      return isa::Opcode::kVcmpLeS32;
    case isa::Opcode::kVcmpGtU32:
      return isa::Opcode::kVcmpGtS32;
    case isa::Opcode::kVcmpGeU32:
      return isa::Opcode::kVcmpGeS32;
    default:
      return op;
  }
}

}  // namespace

// --- Vectors ---

Vec CodeBuilder::Unary(Opcode op, Vec a) { return Made<Vec>(op, a.id); }

void CodeBuilder::UnaryTo(Vec dst, Opcode op, Vec a) {
  EmitOp(op, dst.id, a.id);
}

Vec CodeBuilder::Binary(Opcode op, Vec a, Vec b) {
  return Made<Vec>(op, a.id, b.id);
}

void CodeBuilder::BinaryTo(Vec dst, Opcode op, Vec a, Vec b) {
  EmitOp(op, dst.id, a.id, b.id);
}

Vec CodeBuilder::BinaryImm(Opcode op, Vec a, uint32_t imm) {
  return Made<Vec>(op, a.id, kNone, static_cast<int32_t>(imm));
}

Vec CodeBuilder::BinaryF(Opcode op, Vec a, float imm) {
  return BinaryImm(op, a, numerics::FloatBits(imm));
}

Vec CodeBuilder::Imm(uint32_t bits) {
  return Made<Vec>(Opcode::kVimm, kNone, kNone, static_cast<int32_t>(bits));
}

Vec CodeBuilder::SharedImm(uint32_t bits) {
  if (spills_allowed()) return Imm(bits);  // few registers
  if (shared_block_ != blocks_begun_ || !block_open_) {
    Open();
    shared_block_ = blocks_begun_;
    shared_.clear();
  }
  for (const auto& [value, made] : shared_) {
    if (value == bits) return made;
  }
  shared_.emplace_back(bits, Imm(bits));
  return shared_.back().second;
}

Vec CodeBuilder::ImmF(float value) { return Imm(numerics::FloatBits(value)); }

void CodeBuilder::ImmTo(Vec dst, uint32_t bits) {
  EmitOp(Opcode::kVimm, dst.id, kNone, kNone, static_cast<int32_t>(bits));
}

Vec CodeBuilder::Splat(Sca s) { return Made<Vec>(Opcode::kVstv, s.id); }

void CodeBuilder::SplatTo(Vec dst, Sca s) {
  EmitOp(Opcode::kVstv, dst.id, s.id);
}

Vec CodeBuilder::LaneSequence() { return Made<Vec>(Opcode::kVlaneseq, kNone); }

Vec CodeBuilder::Select(Mask m, Vec if_set, Vec if_not) {
  const Vec d = Made<Vec>(Opcode::kVsel, if_set.id, if_not.id);
  Open().instrs.back().c = m.id;
  return d;
}

Vec CodeBuilder::SelectImm(Mask m, Vec if_set, uint32_t if_not) {
  const Vec d =
      Made<Vec>(Opcode::kVsel, if_set.id, kNone, static_cast<int32_t>(if_not));
  Open().instrs.back().c = m.id;
  return d;
}

Vec CodeBuilder::RotateSublanes(Vec a, int amount) {
  return BinaryImm(Opcode::kVrotSlane, a, static_cast<uint32_t>(amount));
}

// --- Masks ---

Mask CodeBuilder::Compare(Opcode op, Vec a, Vec b) {
  const Opcode as_signed = SignedCompare(op);
  if (as_signed != op && !isa::Supports(model(), op)) {
    op = as_signed;
    a = BinaryImm(Opcode::kVxor, a, kSignBit);
    b = BinaryImm(Opcode::kVxor, b, kSignBit);
  }
  return Made<Mask>(op, a.id, b.id);
}

Mask CodeBuilder::CompareImm(Opcode op, Vec a, uint32_t imm) {
  const Opcode as_signed = SignedCompare(op);
  if (as_signed != op && !isa::Supports(model(), op)) {
    op = as_signed;
    a = BinaryImm(Opcode::kVxor, a, kSignBit);
    imm ^= kSignBit;
  }
  return Made<Mask>(op, a.id, kNone, static_cast<int32_t>(imm));
}

Mask CodeBuilder::IsWeird(Vec a) { return Made<Mask>(Opcode::kVweird, a.id); }

Mask CodeBuilder::MaskBinary(Opcode op, Mask a, Mask b) {
  return Made<Mask>(op, a.id, b.id);
}

Mask CodeBuilder::MaskNot(Mask a) { return Made<Mask>(Opcode::kVmneg, a.id); }

Mask CodeBuilder::Range(int lane_lo, int lane_hi, int sublane_lo,
                        int sublane_hi) {
  const Mask d = NewMask();
  VInstr v;
  v.op = Opcode::kVcmask;
  v.dst = d.id;
  v.imm = lane_lo | lane_hi << 16;
  v.imm2 = sublane_lo | sublane_hi << 16;
  Emit(v);
  return d;
}

// --- VMEM ---

Vec CodeBuilder::Load(int space, Sca base, int32_t offset) {
  const Vec d = NewVec();
  VInstr v;
  v.op = Opcode::kVld;
  v.space = static_cast<int16_t>(space);
  v.dst = d.id;
  v.a = base.id;
  v.imm = offset;
  Emit(v);
  return d;
}

Vec CodeBuilder::LoadRow(int space, Sca base, int32_t offset) {
  if (!isa::Supports(model_, Opcode::kVldBcast)) {
    return LoadStrided(space, base, offset, 0, 1);
  }
  const Vec d = Load(space, base, offset);
  Open().instrs.back().op = Opcode::kVldBcast;
  return d;
}

Vec CodeBuilder::LoadPairs(int space, Sca base, int32_t offset) {
  const Vec d = Load(space, base, offset);
  Open().instrs.back().op = Opcode::kVldPairs;
  return d;
}

Vec CodeBuilder::LoadStrided(int space, Sca base, int32_t offset,
                             int32_t stride, int group) {
  const Vec d = Load(space, base, offset);
  VInstr& v = Open().instrs.back();
  v.op = Opcode::kVldStr;
  v.imm2 = stride;
  v.c = group;
  return d;
}

void CodeBuilder::Store(int space, Sca base, int32_t offset, Vec value) {
  VInstr v;
  v.op = Opcode::kVst;
  v.space = static_cast<int16_t>(space);
  v.a = base.id;
  v.b = value.id;
  v.imm = offset;
  Emit(v);
}

void CodeBuilder::StoreMasked(int space, Sca base, int32_t offset, Vec value,
                              Mask mask) {
  Store(space, base, offset, value);
  VInstr& v = Open().instrs.back();
  v.op = Opcode::kVstMsk;
  v.c = mask.id;
}

void CodeBuilder::StoreStrided(int space, Sca base, int32_t offset,
                               int32_t stride, int group, Vec value) {
  Store(space, base, offset, value);
  VInstr& v = Open().instrs.back();
  v.op = Opcode::kVstStr;
  v.imm2 = stride;
  v.c = group;
}

void CodeBuilder::StoreStridedMasked(int space, Sca base, int32_t offset,
                                     int32_t stride, int group, Vec value,
                                     Mask mask) {
  StoreStrided(space, base, offset, stride, group, value);
  VInstr& v = Open().instrs.back();
  v.op = Opcode::kVstStrMsk;
  v.dst = mask.id;
}

}  // namespace ptxla::codegen
