#include "hlo_backend/lowering/products/row_mask.h"

#include <algorithm>

#include "base/units.h"
#include "hlo_backend/lowering/codegen/word_bits.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

namespace {

constexpr int kBand = 16;

// low <= number < low + count as number - low < count of words without sign:
// one compare, as mask registers are few. Both are moved by 2^31, since chips
// before v6e compare signed words alone.
struct Interval {
  Vec low, count;
};

// The numbers from `low` to before `high`, none if that is not above.
Interval IntervalOf(CodeBuilder* b, Vec low, Vec high) {
  const Vec count = b->Binary(Opcode::kVsubS32, high, low);
  const Vec some =
      b->Select(b->CompareImm(Opcode::kVcmpGtS32, count, 0), count, b->Imm(0));
  return {b->BinaryImm(Opcode::kVxor, low, codegen::kSignBit),
          b->BinaryImm(Opcode::kVxor, some, codegen::kSignBit)};
}

// All bits where the number is inside.
Vec Inside(CodeBuilder* b, Vec numbers, const Interval& in) {
  return b->SelectImm(
      b->Compare(Opcode::kVcmpLtS32,
                 b->Binary(Opcode::kVsubS32, numbers, in.low), in.count),
      b->Imm(codegen::kAllBits), 0);
}

// The lanes `lane` ... + 7, each over a sublane.
Vec Spread(CodeBuilder* b, Vec lanes, int lane) {
  Vec mask = b->BroadcastLane(lanes, lane);
  for (int s = 1; s < isa::kSublanes; ++s) {
    const Vec next = b->BroadcastLane(lanes, lane + s);
    mask = b->Select(b->Range(0, isa::kLanes, s, isa::kSublanes), next, mask);
  }
  return mask;
}

}  // namespace

Vec SublaneNumbers(CodeBuilder* b) {
  return b->BinaryImm(Opcode::kVshrl, b->LaneSequence(), 7);
}

void MaskedRows::Start(int space, int64_t table, CodeBuilder* b) {
  b_ = b;
  space_ = space;
  b->NewBlock("masks of rows");
  table_ = b->GlobalSca();
  b->ScratchAddress(table_, static_cast<int32_t>(table));
  b->SetBank(table_, CodeBuilder::kAbsoluteBanks, static_cast<int32_t>(table));
  const Interval in = IntervalOf(b, b->Splat(low_at_), b->Splat(high_at_));
  low_ = b->Promote(in.low);
  count_ = b->Promote(in.count);
  numbers_ = b->Promote(
      source_ == RowMaskSource::kSublanes
          ? SublaneNumbers(b)
          : b->BinaryImm(Opcode::kVand, b->LaneSequence(), isa::kLanes - 1));
  const isa::MachineModel& model = b->model();
  rows_lead_ = model.Latency(isa::LatencyKey::kXluPermute, 0) +
               2 * kBand / std::max(1, model.xlus) + kLead;
}

int64_t MaskedRows::RowsKey(int64_t, int64_t row) const {
  return (int64_t{from_.space} << 32) + row / kBand;
}

bool MaskedRows::MakeRows(int64_t, int64_t row) {
  if (!made_.insert(row).second) return false;
  CodeBuilder& b = *b_;
  const auto from = [&](int64_t first) {
    return Inside(
        &b,
        b.BinaryImm(Opcode::kVaddS32, numbers_, static_cast<uint32_t>(first)),
        {low_, count_});
  };
  Vec lanes;
  if (source_ == RowMaskSource::kLanes) lanes = from(row - row % isa::kLanes);
  for (int64_t eight = row; eight < row + kBand; eight += isa::kSublanes) {
    const Vec mask =
        source_ == RowMaskSource::kSublanes
            ? from(eight)
            : Spread(&b, lanes, static_cast<int>(eight % isa::kLanes));
    b.Store(space_, table_, TableOffset(eight), mask);
  }
  return true;
}

std::vector<Vec> MaskedRows::Tiles(int64_t batch, int64_t row, int64_t lane) {
  CodeBuilder& b = *b_;
  const auto offset = static_cast<int32_t>(from_.Offset(batch, row, lane));
  const auto pitch = static_cast<int32_t>(from_.row_pitch);
  std::vector<Vec> tiles;
  if (from_.type == hlo::PrimitiveType::kF32) {
    tiles = {b.Load(from_.space, from_.base, offset),
             b.Load(from_.space, from_.base, offset + pitch)};
  } else {
    const Vec packed = b.LoadStrided(from_.space, from_.base, offset, pitch, 4);
    tiles = {b.Unary(Opcode::kVunpackCLBf16, packed),
             b.Unary(Opcode::kVunpackCHBf16, packed)};
  }
  for (int k = 0; k < 2; ++k) {
    const Vec mask =
        b.Load(space_, table_, TableOffset(row + isa::kSublanes * k));
    tiles[k] = b.Binary(Opcode::kVand, tiles[k], mask);
  }
  return tiles;
}

void EmitRowMask(const BlockPlace& from, const BlockPlace& to, int64_t rows,
                 int64_t columns, Sca low, Sca high, CodeBuilder* b) {
  const int64_t tiles = CeilOfRatio<int64_t>(columns, 128);
  const bool f32 = from.type == hlo::PrimitiveType::kF32;
  // One lane mask's rows are a block of code: the XLU's latency is paid once
  // for all of them.
  const int unroll = isa::kLanes;
  const Sca block = b->BeginLoop(CeilOfRatio<int64_t>(rows, unroll), unroll);
  b->NewBlock("mask rows");
  const Sca turn = b->SBinaryImm(Opcode::kSshrl, block, 3);
  const auto beyond = [&](const BlockPlace& place) {
    return b->SAdd(place.base,
                   b->SMulImm(turn, static_cast<int32_t>(place.row_pitch)));
  };
  const Sca source_at = beyond(from), target_at = beyond(to);
  const Vec numbers =
      b->Binary(Opcode::kVaddS32,
                b->BinaryImm(Opcode::kVand, b->LaneSequence(), isa::kLanes - 1),
                b->Splat(block));
  const Vec start = b->Splat(low);
  const Vec lanes = Inside(b, numbers, IntervalOf(b, start, b->Splat(high)));
  for (int row = 0; row < unroll; row += 16) {
    const Vec upper = Spread(b, lanes, row), lower = Spread(b, lanes, row + 8);
    const auto offset = [&](const BlockPlace& place, int64_t tile) {
      return static_cast<int32_t>(row / 8 * place.row_pitch +
                                  tile * place.lane_pitch);
    };
    const auto from_pitch = static_cast<int32_t>(from.row_pitch);
    const auto to_pitch = static_cast<int32_t>(to.row_pitch);
    for (int64_t t = 0; t < tiles; ++t) {
      const int32_t at = offset(from, t), there = offset(to, t);
      if (f32) {
        b->Store(to.space, target_at, there,
                 b->Binary(Opcode::kVand, b->Load(from.space, source_at, at),
                           upper));
        b->Store(
            to.space, target_at, there + to_pitch,
            b->Binary(Opcode::kVand,
                      b->Load(from.space, source_at, at + from_pitch), lower));
        continue;
      }
      const Vec packed =
          b->LoadStrided(from.space, source_at, at, from_pitch, 4);
      const Vec first = b->Binary(
          Opcode::kVand, b->Unary(Opcode::kVunpackCLBf16, packed), upper);
      const Vec second = b->Binary(
          Opcode::kVand, b->Unary(Opcode::kVunpackCHBf16, packed), lower);
      b->StoreStrided(to.space, target_at, there, to_pitch, 4,
                      b->Binary(Opcode::kVpackCBf16, first, second));
    }
  }
  b->EndLoop();
}

}  // namespace ptxla::lowering
