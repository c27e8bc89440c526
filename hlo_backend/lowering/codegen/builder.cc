#include "hlo_backend/lowering/codegen/builder.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/numerics/bits.h"

namespace ptxla::codegen {

using isa::RegClass;

CodeBuilder::CodeBuilder(const isa::MachineModel& model) : model_(model) {
  levels_.emplace_back();
}

// --- Structure ---

VNode& CodeBuilder::Open() {
  if (!block_open_) NewBlock();
  return levels_.back().nodes.back();
}

void CodeBuilder::NewBlock(const char* label, BlockMode mode) {
  VNode node;
  node.label = label;
  node.mode = mode;
  node.globals = globals_;
  levels_.back().nodes.push_back(std::move(node));
  block_open_ = true;
  ++blocks_begun_;
}

Sca CodeBuilder::BeginLoop(int64_t trips, int32_t increment) {
  BeginScope();
  Level level;
  const Sca counter = GlobalSca();
  level.parent.kind = VNode::Kind::kLoop;
  level.parent.trips = trips;
  level.parent.increment = increment;
  level.parent.counter = counter.id;
  levels_.push_back(std::move(level));
  block_open_ = false;
  return counter;
}

void CodeBuilder::EndLoop() {
  VNode node = std::move(levels_.back().parent);
  node.body = std::move(levels_.back().nodes);
  levels_.pop_back();
  levels_.back().nodes.push_back(std::move(node));
  block_open_ = false;
  EndScope();
}

void CodeBuilder::BeginWhen(int dim, isa::When::Kind kind) {
  BeginScope();
  Level level;
  level.parent.kind = VNode::Kind::kWhen;
  level.parent.when_dim = dim;
  level.parent.when = kind;
  levels_.push_back(std::move(level));
  block_open_ = false;
}

void CodeBuilder::EndWhen() { EndLoop(); }

void CodeBuilder::BeginScope() { scopes_.push_back({globals_, slots_}); }

void CodeBuilder::EndScope() {
  globals_ = scopes_.back().globals;
  slots_ = scopes_.back().slots;
  scopes_.pop_back();
  block_open_ = false;
}

VNode CodeBuilder::TakeBlock() {
  CHECK(block_open_);
  VNode node = std::move(levels_.back().nodes.back());
  levels_.back().nodes.pop_back();
  block_open_ = false;
  return node;
}

void CodeBuilder::Append(VNode block) {
  block.globals = globals_;
  levels_.back().nodes.push_back(std::move(block));
  block_open_ = false;
}

Code CodeBuilder::Finish() {
  CHECK_EQ(levels_.size(), size_t{1}) << "a loop is open";
  code_.nodes = std::move(levels_.back().nodes);
  return std::move(code_);
}

// --- Registers ---

int32_t CodeBuilder::New(RegClass cls, bool global) {
  VRegister reg;
  reg.cls = cls;
  code_.registers.push_back(reg);
  const int32_t id = static_cast<int32_t>(code_.registers.size()) - 1;
  if (global) MakeGlobal(id);
  return id;
}

void CodeBuilder::AllowSpills(int32_t offset) {
  code_.spill.allowed = true;
  code_.spill.offset = offset;
}

// A third of the registers is left to the locals of blocks: with fewer, every
// formula would spill, where one global in memory costs a load per use.
bool CodeBuilder::BelongsInMemory(RegClass cls) const {
  if (!code_.spill.allowed) return false;
  if (cls != RegClass::kVector && cls != RegClass::kMask) return false;
  return FreeGlobals(cls) <= model_.Registers(cls) / 3;
}

void CodeBuilder::MakeGlobal(int32_t id) {
  VRegister& reg = code_.registers[id];
  if (reg.global) return;
  reg.global = true;
  reg.physical = 0;
  if (BelongsInMemory(reg.cls)) {
    reg.physical = isa::kNoReg;
    reg.slot = static_cast<int16_t>(slots_++);
    code_.spill.slots = std::max(code_.spill.slots, slots_);
    return;
  }
  uint64_t& used = globals_[static_cast<int>(reg.cls)];
  int i = 0;
  while (i < model_.Registers(reg.cls) && (used >> i & 1)) ++i;
  if (i == model_.Registers(reg.cls)) {
    overflow_ = true;
    return;
  }
  used |= uint64_t{1} << i;
  reg.physical = static_cast<uint8_t>(i);
  if (block_open_) levels_.back().nodes.back().globals = globals_;
}

void CodeBuilder::Redirect(Vec local, Vec dst) {
  VInstr& last = Open().instrs.back();
  CHECK_EQ(last.dst, local.id) << "not the last instruction's result";
  last.dst = dst.id;
}

int CodeBuilder::FreeGlobals(RegClass cls) const {
  int used = 0;
  for (uint64_t bits = globals_[static_cast<int>(cls)]; bits; bits &= bits - 1)
    ++used;
  return model_.Registers(cls) - used;
}

void CodeBuilder::SetBank(Sca reg, int32_t group, int32_t offset) {
  code_.registers[reg.id].bank_group = group;
  code_.registers[reg.id].bank_offset = offset;
}

// --- Instructions ---

VInstr& CodeBuilder::Emit(const VInstr& instr) {
  VNode& block = Open();
  block.instrs.push_back(instr);
  return block.instrs.back();
}

Vec CodeBuilder::Unary(Opcode op, Vec a) {
  const Vec d = NewVec();
  UnaryTo(d, op, a);
  return d;
}

void CodeBuilder::UnaryTo(Vec dst, Opcode op, Vec a) {
  VInstr v;
  v.op = op;
  v.dst = dst.id;
  v.a = a.id;
  Emit(v);
}

Vec CodeBuilder::Binary(Opcode op, Vec a, Vec b) {
  const Vec d = NewVec();
  BinaryTo(d, op, a, b);
  return d;
}

void CodeBuilder::BinaryTo(Vec dst, Opcode op, Vec a, Vec b) {
  VInstr v;
  v.op = op;
  v.dst = dst.id;
  v.a = a.id;
  v.b = b.id;
  Emit(v);
}

Vec CodeBuilder::BinaryImm(Opcode op, Vec a, uint32_t imm) {
  const Vec d = NewVec();
  VInstr v;
  v.op = op;
  v.dst = d.id;
  v.a = a.id;
  v.imm = static_cast<int32_t>(imm);
  Emit(v);
  return d;
}

Vec CodeBuilder::BinaryF(Opcode op, Vec a, float imm) {
  return BinaryImm(op, a, numerics::FloatBits(imm));
}

Vec CodeBuilder::Imm(uint32_t bits) {
  const Vec d = NewVec();
  ImmTo(d, bits);
  return d;
}

Vec CodeBuilder::ImmF(float value) { return Imm(numerics::FloatBits(value)); }

void CodeBuilder::ImmTo(Vec dst, uint32_t bits) {
  VInstr v;
  v.op = Opcode::kVimm;
  v.dst = dst.id;
  v.imm = static_cast<int32_t>(bits);
  Emit(v);
}

Vec CodeBuilder::Splat(Sca s) {
  const Vec d = NewVec();
  SplatTo(d, s);
  return d;
}

void CodeBuilder::SplatTo(Vec dst, Sca s) {
  VInstr v;
  v.op = Opcode::kVstv;
  v.dst = dst.id;
  v.a = s.id;
  Emit(v);
}

Vec CodeBuilder::LaneSequence() {
  const Vec d = NewVec();
  Emit(Opcode::kVlaneseq).dst = d.id;
  return d;
}

Vec CodeBuilder::Select(Mask m, Vec if_set, Vec if_not) {
  const Vec d = NewVec();
  VInstr v;
  v.op = Opcode::kVsel;
  v.dst = d.id;
  v.c = m.id;
  v.a = if_set.id;
  v.b = if_not.id;
  Emit(v);
  return d;
}

Vec CodeBuilder::SelectImm(Mask m, Vec if_set, uint32_t if_not) {
  const Vec d = NewVec();
  VInstr v;
  v.op = Opcode::kVsel;
  v.dst = d.id;
  v.c = m.id;
  v.a = if_set.id;
  v.imm = static_cast<int32_t>(if_not);
  Emit(v);
  return d;
}

Vec CodeBuilder::RotateSublanes(Vec a, int amount) {
  return BinaryImm(Opcode::kVrotSlane, a, static_cast<uint32_t>(amount));
}

Vec CodeBuilder::BroadcastSublane(Vec a, int sublane) {
  return BinaryImm(Opcode::kVbcastSlane, a, static_cast<uint32_t>(sublane));
}

// --- Masks ---

Mask CodeBuilder::Compare(Opcode op, Vec a, Vec b) {
  const Mask d = NewMask();
  VInstr v;
  v.op = op;
  v.dst = d.id;
  v.a = a.id;
  v.b = b.id;
  Emit(v);
  return d;
}

Mask CodeBuilder::CompareImm(Opcode op, Vec a, uint32_t imm) {
  const Mask d = NewMask();
  VInstr v;
  v.op = op;
  v.dst = d.id;
  v.a = a.id;
  v.imm = static_cast<int32_t>(imm);
  Emit(v);
  return d;
}

Mask CodeBuilder::MaskBinary(Opcode op, Mask a, Mask b) {
  const Mask d = NewMask();
  VInstr v;
  v.op = op;
  v.dst = d.id;
  v.a = a.id;
  v.b = b.id;
  Emit(v);
  return d;
}

Mask CodeBuilder::MaskNot(Mask a) {
  const Mask d = NewMask();
  VInstr v;
  v.op = Opcode::kVmneg;
  v.dst = d.id;
  v.a = a.id;
  Emit(v);
  return d;
}

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
