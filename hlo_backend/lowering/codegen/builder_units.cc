// CodeBuilder: FIFO units, scalars, kernel state and DMA.
#include "base/check.h"
#include "hlo_backend/lowering/codegen/builder.h"

namespace ptxla::codegen {

// --- FIFO instructions ---

Vec CodeBuilder::Eup(Opcode op, Vec a) {
  Emit(op).a = a.id;
  const Vec d = NewVec();
  Emit(Opcode::kVpopEup).dst = d.id;
  return d;
}

int CodeBuilder::NextXlu() {
  next_xlu_ = (next_xlu_ + 1) % model_.xlus;
  return next_xlu_;
}

Vec CodeBuilder::Xlane(Opcode op, Vec a) {
  const uint8_t unit = static_cast<uint8_t>(NextXlu());
  VInstr& push = Emit(op);
  push.unit = unit;
  push.a = a.id;
  const Vec d = NewVec();
  VInstr& pop = Emit(Opcode::kVpopXlane);
  pop.unit = unit;
  pop.dst = d.id;
  return d;
}

Vec CodeBuilder::RotateLanes(Vec a, int amount) {
  const uint8_t unit = static_cast<uint8_t>(NextXlu());
  VInstr& push = Emit(Opcode::kVrotLane);
  push.unit = unit;
  push.a = a.id;
  push.imm = amount;
  const Vec d = NewVec();
  VInstr& pop = Emit(Opcode::kVpopPermute);
  pop.unit = unit;
  pop.dst = d.id;
  return d;
}

Vec CodeBuilder::RotateLanes(Vec a, Sca amount) {
  const Vec d = RotateLanes(a, 0);
  VNode& block = Open();
  block.instrs[block.instrs.size() - 2].b = amount.id;
  return d;
}

Vec CodeBuilder::BroadcastLane(Vec a, int lane) {
  const Vec d = RotateLanes(a, lane);
  VNode& block = Open();
  block.instrs[block.instrs.size() - 2].op = Opcode::kVbcastLane;
  return d;
}

Vec CodeBuilder::BroadcastLane(Vec a, Sca lane) {
  const Vec d = BroadcastLane(a, 0);
  VNode& block = Open();
  block.instrs[block.instrs.size() - 2].b = lane.id;
  return d;
}

Vec CodeBuilder::Permute(Vec a, Vec lanes) {
  const Vec d = RotateLanes(a, 0);
  VNode& block = Open();
  VInstr& push = block.instrs[block.instrs.size() - 2];
  push.op = Opcode::kVperm;
  push.b = lanes.id;
  return d;
}

std::vector<Vec> CodeBuilder::Transpose(const std::vector<Vec>& rows,
                                        int results, bool b16) {
  std::vector<Vec> columns;
  Transpose(
      rows, results, [&](int, Vec column) { columns.push_back(column); }, b16);
  return columns;
}

void CodeBuilder::Transpose(const std::vector<Vec>& rows, int results,
                            absl::FunctionRef<void(int, Vec)> take, bool b16) {
  CHECK(!rows.empty());
  const uint8_t unit = static_cast<uint8_t>(NextXlu());
  for (size_t i = 0; i < rows.size(); ++i) {
    const bool first = i == 0, last = i + 1 == rows.size();
    Opcode op = b16 ? Opcode::kVxposeB16Cont : Opcode::kVxposeCont;
    if (first && last) {
      op = b16 ? Opcode::kVxposeB16StartEnd : Opcode::kVxposeStartEnd;
    } else if (first) {
      op = b16 ? Opcode::kVxposeB16Start : Opcode::kVxposeStart;
    } else if (last) {
      op = b16 ? Opcode::kVxposeB16End : Opcode::kVxposeEnd;
    }
    VInstr& push = Emit(op);
    push.unit = unit;
    push.a = rows[i].id;
    if (last) push.imm = results;
  }
  for (int i = 0; i < results; ++i) {
    const Vec column = NewVec();
    VInstr& pop = Emit(Opcode::kVpopTrf);
    pop.unit = unit;
    pop.dst = column.id;
    take(i, column);
  }
}

// --- Scalars ---

Sca CodeBuilder::SImm(int32_t value) {
  const Sca d = NewSca();
  SImmTo(d, value);
  return d;
}

void CodeBuilder::SImmTo(Sca dst, int32_t value) {
  VInstr& v = Emit(Opcode::kSmov);
  v.dst = dst.id;
  v.imm = value;
}

Sca CodeBuilder::SBinary(Opcode op, Sca a, Sca b) {
  const Sca d = NewSca();
  SBinaryTo(d, op, a, b);
  return d;
}

Sca CodeBuilder::SBinaryImm(Opcode op, Sca a, int32_t imm) {
  const Sca d = NewSca();
  SBinaryImmTo(d, op, a, imm);
  return d;
}

void CodeBuilder::SBinaryTo(Sca dst, Opcode op, Sca a, Sca b) {
  Derive(dst, a);
  VInstr& v = Emit(op);
  v.dst = dst.id;
  v.a = a.id;
  v.b = b.id;
}

void CodeBuilder::SBinaryImmTo(Sca dst, Opcode op, Sca a, int32_t imm) {
  VInstr& v = Emit(op);
  v.dst = dst.id;
  v.a = a.id;
  v.imm = imm;
}

// An address made of another one is in the same memory, but who knows where.
void CodeBuilder::Derive(Sca dst, Sca from) {
  VRegister& to = code_.registers[dst.id];
  if (dst.id != from.id &&
      code_.registers[from.id].bank_group != kForeignBanks &&
      to.bank_group == kForeignBanks) {
    to.bank_group = kUnknownBanks;
  }
}

Sca CodeBuilder::SMulImm(Sca a, int32_t b) {
  if (b > 0 && (b & (b - 1)) == 0) {
    int shift = 0;
    while ((1 << shift) < b) ++shift;
    return SBinaryImm(Opcode::kSshll, a, shift);
  }
  return SBinaryImm(Opcode::kSmul, a, b);
}

void CodeBuilder::SMove(Sca dst, Sca a) {
  Derive(dst, a);
  VInstr& v = Emit(Opcode::kSmov);
  v.dst = dst.id;
  v.b = a.id;
}

Sca CodeBuilder::SLoad(int space, Sca base, int32_t offset) {
  const Sca d = NewSca();
  VInstr& v = Emit(Opcode::kSld);
  v.space = static_cast<int16_t>(space);
  v.dst = d.id;
  v.a = base.id;
  v.imm = offset;
  return d;
}

void CodeBuilder::SStore(int space, Sca base, int32_t offset, Sca value) {
  VInstr& v = Emit(Opcode::kSst);
  v.space = static_cast<int16_t>(space);
  v.a = base.id;
  v.imm = offset;
  v.b = value.id;
}

Sca CodeBuilder::SSelectImm(Pred p, Sca if_set, int32_t if_not) {
  const Sca d = NewSca();
  VInstr& v = Emit(Opcode::kSsel);
  v.dst = d.id;
  v.c = p.id;
  v.a = if_set.id;
  v.imm = if_not;
  return d;
}

Pred CodeBuilder::SCompareImm(Opcode op, Sca a, int32_t imm) {
  const Pred d = NewPred();
  VInstr& v = Emit(op);
  v.dst = d.id;
  v.a = a.id;
  v.imm = imm;
  return d;
}

// --- Kernel state and DMA ---

void CodeBuilder::WindowAddress(Sca dst, int window) {
  if (part_ != nullptr) {
    const PartPlaces::Place& place = part_->windows[window];
    if (place.window < 0) {
      VInstr& v = Emit(Opcode::kSscratch);
      v.dst = dst.id;
      v.imm = place.scratch;
      return;
    }
    window = place.window;
  }
  VInstr& v = Emit(Opcode::kSwin);
  v.dst = dst.id;
  v.imm = window;
}

void CodeBuilder::GridIndex(Sca dst, int dim) {
  VInstr& v = Emit(Opcode::kSgrid);
  v.dst = dst.id;
  v.imm = dim;
}

void CodeBuilder::ScratchAddress(Sca dst, int32_t offset) {
  if (code_.registers[dst.id].bank_group == kForeignBanks) {
    code_.registers[dst.id].bank_group = kUnknownBanks;
  }
  VInstr& v = Emit(Opcode::kSscratch);
  v.dst = dst.id;
  v.imm = offset + (part_ == nullptr ? 0 : part_->scratch);
}

void CodeBuilder::ArgAddress(Sca dst, int arg) {
  VInstr& v = Emit(Opcode::kSarg);
  v.dst = dst.id;
  v.imm = arg;
}

Sca CodeBuilder::WindowLength(int window, int dim) {
  const Sca d = NewSca();
  VInstr& v = Emit(Opcode::kSwinlen);
  v.dst = d.id;
  v.imm = window;
  v.imm2 = dim;
  return d;
}

void CodeBuilder::DmaStart(int window) { Emit(Opcode::kDmaStart).imm = window; }

void CodeBuilder::DmaWait(int window) { Emit(Opcode::kDmaWait).imm = window; }

void CodeBuilder::Nop(int cycles) { Emit(Opcode::kNop).imm = cycles; }

}  // namespace ptxla::codegen
