#include "hlo_backend/lowering/products/row_mask.h"

#include <algorithm>
#include <vector>

#include "base/units.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

constexpr uint32_t kAllBits = 0xFFFFFFFFu;

// All bits where low <= number < high.
Vec Inside(CodeBuilder* b, Vec numbers, Vec low, Vec high) {
  return b->SelectImm(
      b->MaskBinary(Opcode::kVmand,
                    b->Compare(Opcode::kVcmpGeS32, numbers, low),
                    b->Compare(Opcode::kVcmpLtS32, numbers, high)),
      b->Imm(kAllBits), 0);
}

// Masks of 8 rows each, the first of them `first` + `row`.
class RowMasks {
 public:
  RowMasks(CodeBuilder* b, Sca first, Vec low, Vec high, RowMaskSource source)
      : b_(*b), source_(source), low_(low), high_(high) {
    const Vec sequence =
        source == RowMaskSource::kSublanes
            ? SublaneNumbers(b)
            : b->BinaryImm(Opcode::kVand, b->LaneSequence(), isa::kLanes - 1);
    numbers_ = b->Binary(Opcode::kVaddS32, sequence, b->Splat(first));
    if (source == RowMaskSource::kLanes) {
      lanes_ = Inside(b, numbers_, low, high);
    }
  }

  Vec Of(int row) {
    if (source_ == RowMaskSource::kSublanes) {
      return Inside(
          &b_,
          b_.BinaryImm(Opcode::kVaddS32, numbers_, static_cast<uint32_t>(row)),
          low_, high_);
    }
    Vec mask = b_.BroadcastLane(lanes_, row);
    for (int s = 1; s < isa::kSublanes; ++s) {
      mask = b_.Select(b_.Range(0, isa::kLanes, s, isa::kSublanes),
                       b_.BroadcastLane(lanes_, row + s), mask);
    }
    return mask;
  }

 private:
  CodeBuilder& b_;
  RowMaskSource source_;
  Vec low_, high_, numbers_, lanes_;
};

}  // namespace

Vec SublaneNumbers(CodeBuilder* b) {
  return b->BinaryImm(Opcode::kVshrl, b->LaneSequence(), 7);
}

void EmitRowMask(const BlockPlace& from, const BlockPlace& to, int64_t rows,
                 int64_t columns, Sca low, Sca high, RowMaskSource source,
                 CodeBuilder* b) {
  const int64_t tiles = CeilOfRatio<int64_t>(columns, 128);
  const bool f32 = from.type == hlo::PrimitiveType::kF32;
  // Rows of a block of code: one lane mask's, where the XLU's latency is paid
  // once for all of them.
  const int unroll = source == RowMaskSource::kLanes ? 128 : 32;
  const Sca block = b->BeginLoop(CeilOfRatio<int64_t>(rows, unroll), unroll);
  b->NewBlock("mask rows");
  const Sca turn = b->SBinaryImm(Opcode::kSshrl, block, 3);
  const auto beyond = [&](const BlockPlace& place) {
    return b->SAdd(place.base,
                   b->SMulImm(turn, static_cast<int32_t>(place.row_pitch)));
  };
  const Sca source_at = beyond(from), target_at = beyond(to);
  RowMasks masks(b, block, b->Splat(low), b->Splat(high), source);
  for (int row = 0; row < unroll; row += 16) {
    const Vec upper = masks.Of(row), lower = masks.Of(row + 8);
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
