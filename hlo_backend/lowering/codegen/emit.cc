#include "hlo_backend/lowering/codegen/emit.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "base/hash.h"
#include "base/status.h"

namespace ptxla::codegen {
namespace {

// A hash of many words, two at a time, for keys that no other process sees: all
// code that is written goes through it.
class WordHash {
 public:
  void Add(uint64_t a, uint64_t b) {
    const absl::uint128 product =
        absl::uint128(a ^ kOdd) * (b ^ value_ ^ (value_ << 32));
    value_ = (absl::Uint128Low64(product) ^ absl::Uint128High64(product)) +
             kStep * (value_ + a);
  }
  uint64_t value() const { return HashCombine(value_, kOdd); }

 private:
  // Those of splitmix64.
  static constexpr uint64_t kStep = 0x9e3779b97f4a7c15ull;
  static constexpr uint64_t kOdd = 0xbf58476d1ce4e5b9ull;
  uint64_t value_ = kStep;
};

// Virtual registers of a block by first appearance, so that equal blocks of
// different kernels look alike.
uint64_t HashOf(const VNode& block, const Code& code) {
  const std::vector<VRegister>& registers = code.registers;
  WordHash f;
  f.Add(static_cast<uint64_t>(block.mode) << 1 | code.spill.allowed,
        block.instrs.size());
  if (code.spill.allowed) {
    f.Add(static_cast<uint64_t>(code.spill.offset),
          static_cast<uint64_t>(code.spill.slots));
  }
  for (uint64_t bits : block.globals) f.Add(bits, 0);
  int32_t base = INT32_MAX;
  for (const VInstr& v : block.instrs) {
    if (v.dst != kNone && FieldsOf(v.op).dst >= 0 && !registers[v.dst].global) {
      base = std::min(base, v.dst);
    }
  }
  // Banks are known of address registers only: they count apart.
  std::array<uint64_t, 5> banks;
  int num_banks = 0;
  const auto reg = [&](int8_t cls, int32_t r) -> uint64_t {
    if (cls < 0 || r == kNone) return static_cast<uint32_t>(r);
    const VRegister& info = registers[r];
    if (info.bank_group != kForeignBanks || info.bank_offset != 0) {
      banks[num_banks++] = static_cast<uint64_t>(info.bank_group) << 32 |
                           static_cast<uint32_t>(info.bank_offset);
    }
    if (!info.global) return static_cast<uint32_t>(r - base) * 2;
    const int64_t place =
        info.slot >= 0 ? isa::kNoReg + 1 + info.slot : info.physical;
    return static_cast<uint32_t>(place) * 2 + 1;
  };
  const auto pair = [](uint64_t low, uint64_t high) {
    return low | high << 32;
  };
  for (const VInstr& v : block.instrs) {
    const FieldClasses& c = FieldsOf(v.op);
    num_banks = 0;
    const uint64_t written = pair(reg(c.dst, v.dst), reg(c.a, v.a));
    const uint64_t read = pair(reg(c.b, v.b), reg(c.c, v.c));
    f.Add(static_cast<uint64_t>(v.op) | uint64_t{v.unit} << 16 |
              uint64_t{v.guard_not} << 24 | uint64_t{v.guard != kNone} << 25 |
              static_cast<uint64_t>(num_banks) << 26 |
              pair(0, static_cast<uint32_t>(v.space)),
          pair(static_cast<uint32_t>(v.imm), static_cast<uint32_t>(v.imm2)));
    f.Add(written, read);
    for (int k = 0; k < num_banks; ++k) f.Add(banks[k], 1);
    if (v.guard != kNone) f.Add(reg(0, v.guard), 2);
  }
  for (int32_t at : block.at) f.Add(static_cast<uint64_t>(at), 3);
  return f.value();
}

class BlockWriter {
 public:
  BlockWriter(const VNode& block, absl::Span<const VRegister> registers,
              const BlockSchedule& schedule)
      : block_(block), registers_(registers), schedule_(schedule) {}

  isa::Block Write() {
    isa::Block out;
    out.label = block_.label;
    Reserve(&out);
    int64_t cycle = 0;
    for (size_t k = 0; k < schedule_.order.size();) {
      const int64_t at = schedule_.order[k].first;
      if (at > cycle) out.AddNop(static_cast<int>(at - cycle));
      for (; k < schedule_.order.size() && schedule_.order[k].first == at;
           ++k) {
        out.instrs.push_back(
            Physical(block_.instrs[schedule_.order[k].second]));
      }
      out.ends.push_back(static_cast<uint32_t>(out.instrs.size()));
      cycle = at + 1;
    }
    if (schedule_.cycles > cycle) {
      out.AddNop(static_cast<int>(schedule_.cycles - cycle));
    }
    return out;
  }

 private:
  // Room for all bundles, and for a nop in each gap between two of them.
  void Reserve(isa::Block* out) const {
    size_t bundles = 0, nops = 1;
    int64_t cycle = -1;
    for (const auto& [at, instr] : schedule_.order) {
      if (at == cycle) continue;
      ++bundles;
      if (at > cycle + 1) ++nops;
      cycle = at;
    }
    out->instrs.reserve(schedule_.order.size() + nops);
    out->ends.reserve(bundles + nops);
  }

  uint8_t Register(int8_t cls, int32_t reg) const {
    if (cls < 0) return reg == kNone ? isa::kNoReg : static_cast<uint8_t>(reg);
    if (reg == kNone) return isa::kNoReg;
    const VRegister& info = registers_[reg];
    return info.global ? info.physical
                       : schedule_.physical[reg - schedule_.first_local];
  }

  isa::Instr Physical(const VInstr& v) const {
    const FieldClasses& f = FieldsOf(v.op);
    isa::Instr i;
    i.op = v.op;
    i.unit = v.unit;
    i.dst = Register(f.dst, v.dst);
    i.a = Register(f.a, v.a);
    i.b = Register(f.b, v.b);
    i.c = Register(f.c, v.c);
    i.imm = v.imm;
    i.imm2 = v.imm2;
    if (v.guard != kNone) {
      const int p = Register(0, v.guard);
      i.guard = v.guard_not ? isa::GuardIfNot(p) : isa::GuardIf(p);
    }
    return i;
  }

  const VNode& block_;
  absl::Span<const VRegister> registers_;
  const BlockSchedule& schedule_;
};

absl::StatusOr<isa::Block> PlacedBlock(const VNode& block, const Code& code,
                                       const isa::MachineModel& model) {
  ASSIGN_OR_RETURN(const BlockSchedule schedule,
                   AllocatePlaced(block, code.registers, model,
                                  BudgetOf(block.globals, model)));
  return BlockWriter(block, code.registers, schedule).Write();
}

// Fewer registers for the written order leave some to the scheduler, for
// overlap: which number is best is found by trying.
absl::StatusOr<BlockCache::Entry> Spilled(const SpilledBlock& block,
                                          const SpillArea& area,
                                          const RegisterBudget& budget,
                                          const isa::MachineModel& model) {
  std::optional<BlockCache::Entry> best;
  int64_t best_cycles = 0;
  absl::Status failure;
  for (const int spare : {0, 2, 4, 8}) {
    std::array<int, isa::kNumRegClasses> limit;
    for (int c = 0; c < isa::kNumRegClasses; ++c) {
      limit[c] = static_cast<int>(budget.free[c].size());
    }
    int& vectors = limit[static_cast<int>(isa::RegClass::kVector)];
    if (spare > 0 && vectors - spare < 6) break;
    vectors -= spare;
    auto spilled = SpillLocals(block, area, limit);
    if (!spilled.ok()) {
      if (failure.ok()) failure = spilled.status();
      continue;
    }
    auto schedule = ScheduleBlock(spilled->block.instrs, spilled->registers,
                                  model, budget, spilled->block.mode);
    if (!schedule.ok()) {
      if (failure.ok()) failure = schedule.status();
      continue;
    }
    if (best.has_value() && schedule->cycles >= best_cycles) continue;
    best_cycles = schedule->cycles;
    best = BlockCache::Entry{
        BlockWriter(spilled->block, spilled->registers, *schedule).Write(),
        spilled->use};
  }
  if (!best.has_value()) return failure;
  return *std::move(best);
}

absl::Status EmitNodes(absl::Span<const VNode> nodes, const Code& code,
                       BlockCache* cache, isa::Code* out, SpillUse* use) {
  for (const VNode& node : nodes) {
    if (node.kind == VNode::Kind::kBlock) {
      if (node.instrs.empty()) continue;
      if (node.mode == BlockMode::kPlaced) {
        // Long, and never met twice.
        ASSIGN_OR_RETURN(isa::Block block,
                         PlacedBlock(node, code, cache->model()),
                         _ << "block '" << node.label << "'");
        out->push_back(std::move(block));
        continue;
      }
      ASSIGN_OR_RETURN(const BlockCache::Entry* entry, cache->Get(node, code),
                       _ << "block '" << node.label << "'");
      use->Add(entry->spill);
      out->push_back(entry->block);
      out->back().block()->label = node.label;  // not that of its equal
      continue;
    }
    isa::Code body;
    RETURN_IF_ERROR(EmitNodes(node.body, code, cache, &body, use));
    if (body.empty()) continue;
    if (node.kind == VNode::Kind::kWhen) {
      out->push_back(isa::When{node.when_dim, node.when, std::move(body)});
      continue;
    }
    isa::Loop loop;
    loop.counter = node.counter == kNone
                       ? isa::kNoReg
                       : code.registers[node.counter].physical;
    if (node.count != kNone) {
      loop.count = code.registers[node.count].physical;
    }
    loop.trips = node.trips;
    loop.increment = node.increment;
    loop.body = std::move(body);
    out->push_back(std::move(loop));
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> CyclesOfNodes(absl::Span<const VNode> nodes,
                                      const Code& code, BlockCache* cache,
                                      SpillUse* use) {
  int64_t cycles = 0;
  for (const VNode& node : nodes) {
    if (node.kind == VNode::Kind::kBlock) {
      if (node.instrs.empty()) continue;
      ASSIGN_OR_RETURN(const BlockCache::Entry* entry, cache->Get(node, code));
      use->Add(entry->spill);
      cycles += entry->block.Cycles();
      continue;
    }
    ASSIGN_OR_RETURN(int64_t body, CyclesOfNodes(node.body, code, cache, use));
    if (node.kind == VNode::Kind::kLoop) {
      body = std::max<int64_t>(body, 1 + cache->model().branch_delay_slots);
      cycles += body * node.trips;
    } else {
      cycles += body;
    }
  }
  return cycles;
}

}  // namespace

RegisterBudget BudgetOf(
    const std::array<uint64_t, isa::kNumRegClasses>& globals,
    const isa::MachineModel& model) {
  RegisterBudget budget;
  for (int c = 0; c < isa::kNumRegClasses; ++c) {
    const int count = model.Registers(static_cast<isa::RegClass>(c));
    for (int r = count - 1; r >= 0; --r) {
      if (!(globals[c] >> r & 1)) {
        budget.free[c].push_back(static_cast<uint8_t>(r));
      }
    }
  }
  return budget;
}

absl::StatusOr<BlockCache::Entry> BlockCache::Make(const VNode& block,
                                                   const Code& code) const {
  for (const VInstr& v : block.instrs) {
    // An instruction of another generation has no latency here: no schedule of
    // it would mean anything.
    if (!isa::Supports(model_, v.op)) {
      return absl::UnimplementedError(absl::StrCat(
          "chip ", model_.name, " has no ", isa::Info(v.op).mnemonic));
    }
  }
  if (block.mode == BlockMode::kPlaced) {
    ASSIGN_OR_RETURN(isa::Block placed, PlacedBlock(block, code, model_));
    return Entry{std::move(placed), {}};
  }
  const RegisterBudget budget = BudgetOf(block.globals, model_);
  if (!code.spill.allowed || !UsesMemoryGlobals(block, code)) {
    auto schedule =
        ScheduleBlock(block.instrs, code.registers, model_, budget, block.mode);
    if (schedule.ok()) {
      return Entry{BlockWriter(block, code.registers, *schedule).Write(), {}};
    }
    if (!code.spill.allowed || !absl::IsResourceExhausted(schedule.status())) {
      return schedule.status();
    }
  }
  return Spilled(WithMemoryGlobals(block, code), code.spill, budget, model_);
}

absl::StatusOr<const BlockCache::Entry*> BlockCache::Get(const VNode& block,
                                                         const Code& code) {
  const auto taken =
      [](const absl::StatusOr<Entry>& made) -> absl::StatusOr<const Entry*> {
    if (!made.ok()) return made.status();
    return &*made;
  };
  const uint64_t key = HashOf(block, code);
  Part& part = parts_[key % kParts];
  {
    absl::MutexLock lock(&part.mutex);
    const auto it = part.blocks.find(key);
    if (it != part.blocks.end()) {
      hits_.fetch_add(1, std::memory_order_relaxed);
      return taken(*it->second);
    }
  }
  auto made = std::make_unique<const absl::StatusOr<Entry>>(Make(block, code));
  absl::MutexLock lock(&part.mutex);
  return taken(*part.blocks.try_emplace(key, std::move(made)).first->second);
}

int64_t BlockCache::size() const {
  int64_t size = 0;
  for (const Part& part : parts_) {
    absl::MutexLock lock(&part.mutex);
    size += static_cast<int64_t>(part.blocks.size());
  }
  return size;
}

absl::StatusOr<isa::Code> EmitCode(const Code& code, BlockCache* cache,
                                   SpillUse* use) {
  isa::Code out;
  SpillUse here;
  RETURN_IF_ERROR(
      EmitNodes(code.nodes, code, cache, &out, use == nullptr ? &here : use));
  return out;
}

absl::StatusOr<int64_t> CyclesOf(const Code& code, BlockCache* cache,
                                 SpillUse* use) {
  SpillUse here;
  return CyclesOfNodes(code.nodes, code, cache, use == nullptr ? &here : use);
}

}  // namespace ptxla::codegen
