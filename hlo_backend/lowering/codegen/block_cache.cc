#include "hlo_backend/lowering/codegen/block_cache.h"

#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "base/hash.h"
#include "base/status.h"
#include "hlo_backend/lowering/codegen/block_writer.h"
#include "hlo_backend/lowering/codegen/schedule.h"

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
        WriteBlock(spilled->block, spilled->registers, *schedule),
        spilled->use};
  }
  if (!best.has_value()) return failure;
  return *std::move(best);
}

}  // namespace

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
    ASSIGN_OR_RETURN(isa::Block placed, WritePlacedBlock(block, code, model_));
    return Entry{std::move(placed), {}};
  }
  const RegisterBudget budget = BudgetOf(block.globals, model_);
  if (!code.spill.allowed || !UsesMemoryGlobals(block, code)) {
    auto schedule =
        ScheduleBlock(block.instrs, code.registers, model_, budget, block.mode);
    if (schedule.ok()) {
      return Entry{WriteBlock(block, code.registers, *schedule), {}};
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

}  // namespace ptxla::codegen
