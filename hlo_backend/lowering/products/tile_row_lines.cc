// TileFormula: where lines of 128 values per row lie in memory.
#include "base/units.h"
#include "hlo_backend/lowering/products/row_results.h"
#include "hlo_backend/lowering/products/tile_formula.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

bool TileFormula::IsNarrowLine(const PhysicalArray& array) {
  return array.type == hlo::PrimitiveType::kBf16 && array.rank() == 1;
}

Sca TileFormula::GroupOf(Sca group) {
  if (grid_[row_grid_] == 1) return group;
  CodeBuilder& b = *b_;
  const Sca index = b.NewSca();
  b.GridIndex(index, row_grid_);
  return b.SAdd(
      group, b.SMulImm(index, static_cast<int32_t>(row_block_ / isa::kLanes)));
}

// A word holds the values of two groups that follow each other.
Vec TileFormula::LoadNarrowLine(const Leaf& leaf, Sca group) {
  CodeBuilder& b = *b_;
  group = GroupOf(group);
  const Sca pair = b.SBinaryImm(Opcode::kSshrl, group, 1);
  const Sca line =
      b.SAdd(leaf.place.base, b.SMulImm(pair, int32_t{isa::kRowBytes}));
  b.SetBank(line, codegen::kUnknownBanks, 0);
  const Sca odd = b.SBinaryImm(Opcode::kSand, group, 1);
  const Vec shift = b.Splat(b.SAddImm(b.SMulImm(odd, -16), 16));
  const Vec words = b.LoadRow(leaf.place.space, line, 0);
  return b.BinaryImm(Opcode::kVand, b.Binary(Opcode::kVshll, words, shift),
                     0xFFFF0000u);
}

// The line of a leaf's values for the rows 128 * `group` ... of a member in
// this step.
Sca TileFormula::LineOf(const Leaf& leaf, Sca member, Sca group) {
  CodeBuilder& b = *b_;
  group = GroupOf(group);
  const auto lines = static_cast<int32_t>(member_rows_ / isa::kLanes);
  if (folded_ && lines > 1) {
    constexpr int kShift = 16;
    member = b.SBinaryImm(
        Opcode::kSshrl,
        b.SMulImm(group, CeilOfRatio<int32_t>(1 << kShift, lines)), kShift);
    group = b.SAdd(group, b.SMulImm(member, -lines));
  } else if (folded_) {
    member = group;
    group = b.SImm(0);
  }
  const Sca from =
      b.SAdd(leaf.place.base,
             b.SMulImm(group, static_cast<int32_t>(LinePitch(leaf.array))));
  const Sca line = MemberLine(leaf.array, from, member, b);
  b.SetBank(line, codegen::kUnknownBanks, 0);
  return line;
}

}  // namespace ptxla::lowering
