#include "hlo_backend/lowering/movement/row_blocks.h"

#include <algorithm>

#include "base/units.h"

namespace ptxla::lowering {
namespace {

// Registers of the result that one grid step may make: longer code would not
// pay for itself. ASSUMED.
constexpr int64_t kMaxRegisters = 4096;
// So many where it makes some columns: the pass that cuts reshapes knows the
// number (passes/layout/reshape_splitter.cc). ASSUMED.
constexpr int64_t kMaxOfColumns = 1024;
// Of a step from which on more would not hide more: fewer steps are not looked
// for, and a quarter of it is enough for blocks that need no cutting. ASSUMED.
constexpr int64_t kGoodRegisters = 256, kEnoughRegisters = 64;

bool IsResident(const isa::KernelArg& arg) {
  return arg.space == isa::Space::kVmem;
}

class Choice {
 public:
  Choice(const std::vector<isa::KernelArg>& args, bool columns, int64_t budget,
         RowPlan* plan)
      : args_(args), columns_(columns), budget_(budget), plan_(*plan) {}

  std::optional<RowPlan::Blocks> Equal() {
    const int64_t rows = plan_.result().count();
    std::optional<RowPlan::Blocks> best;
    for (int64_t steps = 1; steps <= rows; ++steps) {
      if (rows % steps != 0) continue;
      const int64_t block = rows / steps;
      // Blocks of a result in VMEM are stored in whole registers.
      if (IsResident(args_.back()) && steps > 1 && block % 8 != 0) continue;
      // Once there is an answer, only look on while its code is long.
      if (best && CeilOfRatio<int64_t>(best->result_rows, 8) <= kGoodRegisters)
        break;
      if (const auto blocks = Of(block)) best = blocks;
    }
    return best;
  }

  std::optional<RowPlan::Blocks> CutOff() {
    // No window cuts off what lies in VMEM.
    const bool resident = IsResident(args_.back());
    const int64_t rows = plan_.result().count();
    const int64_t unit =
        plan_.TileRow() * std::max<int64_t>(plan_.RowsApart(), 1);
    for (int64_t units = std::max<int64_t>(8 * kGoodRegisters / unit, 1);
         units > 0; units /= 2) {
      if (units * unit >= rows) continue;
      auto blocks = Of(units * unit);
      if (!blocks) continue;
      if (!resident) return blocks;
      if (unit % 8 == 0 && rows % 8 == 0 && plan_.MoveLastBack(&*blocks) &&
          (!columns_ || EndsInRowsOfTiles(*blocks))) {
        return blocks;
      }
    }
    return std::nullopt;
  }

 private:
  // Blocks of so many word rows of the result, if they look alike and fit.
  std::optional<RowPlan::Blocks> Of(int64_t block) {
    RowPlan::Blocks blocks;
    const int64_t most = columns_ ? kMaxOfColumns : kMaxRegisters;
    if (CeilOfRatio<int64_t>(block, 8) > most || !plan_.Split(block, &blocks)) {
      return std::nullopt;
    }
    int64_t vmem = 2 * RowBlockBytes(blocks.result_rows);
    for (size_t o = 0; o < blocks.operand_rows.size(); ++o) {
      if (IsResident(args_[o])) continue;
      vmem += (blocks.advance[o] > 0 || columns_ ? 2 : 1) *
              RowBlockBytes(blocks.operand_rows[o]);
    }
    if (vmem > budget_ || (columns_ && !InRowsOfTiles(&blocks))) {
      return std::nullopt;
    }
    return blocks;
  }

  int64_t OperandUnit(size_t o) const { return plan_.operands()[o].TileRow(); }

  // Makes a step's rows of operands whole rows of tiles.
  bool InRowsOfTiles(RowPlan::Blocks* blocks) const {
    if (blocks->result_rows == plan_.result().count()) return true;
    if (blocks->result_rows % plan_.TileRow() != 0) return false;
    for (size_t o = 0; o < blocks->operand_rows.size(); ++o) {
      blocks->operand_rows[o] =
          RoundUpTo(blocks->operand_rows[o], OperandUnit(o));
      if (blocks->advance[o] % OperandUnit(o) != 0) return false;
    }
    return true;
  }

  bool EndsInRowsOfTiles(const RowPlan::Blocks& blocks) const {
    for (size_t o = 0; o < blocks.last_operand_row.size(); ++o) {
      if (blocks.last_operand_row[o] % OperandUnit(o) != 0) return false;
    }
    return true;
  }

  const std::vector<isa::KernelArg>& args_;
  const bool columns_;
  const int64_t budget_;
  RowPlan& plan_;
};

}  // namespace

int64_t RowBlockBytes(int64_t rows) {
  return RoundUpTo<int64_t>(rows * isa::kRowBytes, isa::kVregBytes);
}

std::optional<RowPlan::Blocks> ChooseRowBlocks(
    const std::vector<isa::KernelArg>& args, bool columns, int64_t budget,
    RowPlan* plan) {
  Choice choice(args, columns, budget, plan);
  const auto equal = choice.Equal();
  // Equal steps of a prime number of rows of tiles have one of them.
  if (equal &&
      CeilOfRatio<int64_t>(equal->result_rows, 8) >= kEnoughRegisters) {
    return equal;
  }
  const auto cut = choice.CutOff();
  if (!equal || !cut) return equal ? equal : cut;
  return cut->result_rows >= 2 * equal->result_rows ? cut : equal;
}

}  // namespace ptxla::lowering
