#include "hlo_backend/lowering/codegen/builder.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace ptxla::codegen {

using isa::RegClass;

namespace {

// Most blocks have more than a few: they do not grow one by one.
constexpr size_t kFirstInstructions = 16;

}  // namespace

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

Sca CodeBuilder::BeginLoopOf(Sca count, int64_t trips, int32_t increment) {
  const Sca counter = BeginLoop(trips, increment);
  levels_.back().parent.count = count.id;
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
  if (block.instrs.empty()) block.instrs.reserve(kFirstInstructions);
  block.instrs.push_back(instr);
  VInstr& v = block.instrs.back();
  if (store_guard_.valid() && isa::IsVectorStore(v.op)) {
    v.guard = store_guard_.id;
  }
  return v;
}

void CodeBuilder::EmitOp(Opcode op, int32_t dst, int32_t a, int32_t b,
                         int32_t imm) {
  VInstr v;
  v.op = op;
  v.dst = dst;
  v.a = a;
  v.b = b;
  v.imm = imm;
  Emit(v);
}

}  // namespace ptxla::codegen
