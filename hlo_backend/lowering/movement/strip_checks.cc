#include "hlo_backend/lowering/movement/strip_checks.h"

#include "base/units.h"

namespace ptxla::lowering {

using codegen::Mask;
using codegen::Pred;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

void StripChecks::Forget() {
  planes_.clear();
  lanes_.clear();
  lane_ = row_ = {};
}

Vec StripChecks::Lane() {
  if (!lane_.valid()) {
    lane_ = b_.BinaryImm(Opcode::kVand, b_.LaneSequence(), 127);
  }
  return lane_;
}

// Of the first part: row of each element in its register, or, in a linear
// array, its number.
Vec StripChecks::Row() {
  if (row_.valid()) return row_;
  row_ = b_.BinaryImm(Opcode::kVshrl, b_.LaneSequence(), 7);
  if (m_.packing > 1) {
    row_ = b_.BinaryImm(Opcode::kVshll, row_, m_.packing == 2 ? 1 : 2);
  }
  if (m_.linear) {
    row_ = b_.Binary(Opcode::kVaddS32, Lane(),
                     b_.BinaryImm(Opcode::kVshll, row_, 7));
  }
  return row_;
}

// first - index * unit, where index is that of a level.
Sca StripChecks::Behind(const StripCheck& check, size_t l, int64_t index,
                        int64_t unit) {
  Sca first = check.first;
  if (loops_[l].valid()) {
    first = b_.SBinary(Opcode::kSsub, first,
                       b_.SMulImm(loops_[l], static_cast<int32_t>(unit)));
  }
  return index == 0 ? first
                    : b_.SAddImm(first, static_cast<int32_t>(-index * unit));
}

// 1 where the planes count, else 0; invalid if all do.
Sca StripChecks::Planes(const std::vector<int64_t>& index) {
  std::vector<int64_t> key(index.begin(),
                           index.begin() + static_cast<long>(m_.planes.size()));
  Sca& known = planes_[key];
  if (known.valid()) return known;
  Sca all;
  for (size_t p = 0; p < m_.plane_checks.size(); ++p) {
    const StripCheck& check = m_.plane_checks[p];
    if (!check.on) continue;
    const Sca behind =
        b_.SBinary(Opcode::kSsub, b_.SImm(0), Behind(check, p, index[p], 1));
    const Pred in = b_.SCompareImm(Opcode::kScmpLtU, behind,
                                   static_cast<int32_t>(check.count));
    const Sca one = b_.SSelectImm(in, b_.SImm(1), 0);
    all = all.valid() ? b_.SBinary(Opcode::kSand, all, one) : one;
  }
  return planes_[key] = all;
}

Mask StripChecks::And(Mask a, Mask b) {
  if (!a.valid()) return b;
  if (!b.valid()) return a;
  return b_.MaskBinary(Opcode::kVmand, a, b);
}

// Planes and lanes that count; rows too, if they do not share words.
Mask StripChecks::MaskOf(const std::vector<int64_t>& index) {
  const size_t l = m_.planes.size();
  Mask& known = lanes_[{std::vector<int64_t>(
      index.begin(), index.begin() + static_cast<long>(l) + 1)}];
  if (!known.valid()) {
    Mask mask;
    if (const Sca in = Planes(index); in.valid()) {
      mask = b_.CompareImm(Opcode::kVcmpNeS32, b_.Splat(in), 0);
    }
    if (m_.lane_check.on) {
      const Vec first =
          b_.Splat(Behind(m_.lane_check, l, index[l], isa::kLanes));
      mask = And(mask, In(Lane(), first, m_.lane_check.count));
    }
    known = mask;
  }
  if (!m_.row_check.on || m_.packing > 1) return known;
  return And(known, In(Row(), FirstRow(index), m_.row_check.count));
}

Mask StripChecks::In(Vec x, Vec first, int64_t count) {
  return b_.CompareImm(Opcode::kVcmpLtU32,
                       b_.Binary(Opcode::kVsubS32, x, first),
                       static_cast<uint32_t>(count));
}

Vec StripChecks::FirstRow(const std::vector<int64_t>& index) {
  const size_t l = loops_.size() - 1;
  const int64_t unit = int64_t{8} * m_.packing * (m_.linear ? 128 : 1);
  return b_.Splat(Behind(m_.row_check, l, index[l], unit));
}

// Bits of the elements that count, where rows share words and are checked.
Vec StripChecks::Counts(const std::vector<int64_t>& index) {
  if (!m_.row_check.on || m_.packing == 1) return {};
  const Vec first = FirstRow(index);
  const int bits = 32 / m_.packing;
  Vec all;
  for (int part = 0; part < m_.packing; ++part) {
    Vec x = Row();
    if (part > 0) {
      x = b_.BinaryImm(Opcode::kVaddS32, x,
                       static_cast<uint32_t>(part * (m_.linear ? 128 : 1)));
    }
    const uint32_t mine = ((1u << bits) - 1) << (part * bits);
    const Vec w =
        b_.SelectImm(In(x, first, m_.row_check.count), b_.Imm(mine), 0);
    all = all.valid() ? b_.Binary(Opcode::kVor, all, w) : w;
  }
  const Mask mask = MaskOf(index);
  return mask.valid() ? b_.SelectImm(mask, all, 0) : all;
}

}  // namespace ptxla::lowering
