#include "hlo_backend/lowering/convolutions/packed_operands.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "hlo_backend/lowering/codegen/spaces.h"
#include "hlo_backend/lowering/products/stream_scheduler.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Mask;
using codegen::Vec;
using isa::Opcode;

class PackedOperands::Packer {
 public:
  explicit Packer(PackedOperands* operands)
      : o_(*operands), b_(operands->b_), scheduler_(operands->b_) {}

  // A packed register, for byte `to` of the packed planes.
  void Add(const std::vector<Part>& parts, int64_t to) {
    std::vector<Vec> moved;
    int64_t end = wish_;
    const Part* still = nullptr;  // the part that stays where it is
    for (const Part& part : parts) {
      if (part.lane == 0) {
        still = &part;
        continue;
      }
      b_.NewBlock();
      moved.push_back(
          b_.RotateLanes(o_.Load(part), static_cast<int>(part.lane)));
      end = Place(wish_, part.raw ? -1 : part.first);
      if (moved.size() > kMostMoved) JoinFirst(&moved);
    }
    // What stays is loaded when what was moved arrives.
    b_.NewBlock();
    Vec sum = still != nullptr ? o_.Load(*still)
              : moved.empty()  ? b_.Imm(0)
                               : moved[0];
    Place(std::max<int64_t>(0, end - kAhead),
          still != nullptr && !still->raw ? still->first : -1);
    b_.NewBlock();
    for (size_t n = still == nullptr ? 1 : 0; n < moved.size(); ++n) {
      sum = b_.Binary(Opcode::kVor, sum, moved[n]);
    }
    b_.Store(codegen::kPackedOperandSpace, o_.scratch_.base,
             static_cast<int32_t>(to), sum);
    const int64_t stored = Place(end, to);
    // Nothing to keep pace with: what is loaded would wait for its store.
    if (moved.empty()) wish_ = std::max(wish_, stored - kAhead);
  }

  void Finish() {
    b_.NewBlock();
    b_.Append(scheduler_.Finish("packing"));
  }

 private:
  // Cycles of a load and a mask before the last rotation arrives.
  static constexpr int64_t kAhead = 6;
  // Rotated registers that wait to be joined: half of those of v2 to v4.
  static constexpr size_t kMostMoved = 16;

  void JoinFirst(std::vector<Vec>* moved) {
    b_.NewBlock();
    (*moved)[1] = b_.Binary(Opcode::kVor, (*moved)[0], (*moved)[1]);
    Place(wish_, -1);
    moved->erase(moved->begin());
  }

  // The open block at or after `wish`; the last cycle.
  int64_t Place(int64_t wish, int64_t key) {
    const codegen::VNode block = b_.TakeBlock();
    int64_t end = wish;
    for (const codegen::VInstr& v : block.instrs) {
      const bool memory = isa::IsVectorLoad(v.op) || isa::IsVectorStore(v.op);
      const int64_t at = scheduler_.Place(v, wish, memory ? key : -1);
      // Loads keep pace with the rotations.
      if (v.op == Opcode::kVrotLane) wish_ = std::max(wish_, at - kAhead);
      end = std::max(end, at);
    }
    return end;
  }

  PackedOperands& o_;
  CodeBuilder& b_;
  codegen::StreamScheduler scheduler_;
  int64_t wish_ = 0;
};

PackedOperands::PackedOperands(const ConvolutionForm& form,
                               const ConvolutionBlock& block,
                               const ConvolutionEdge& edge,
                               const TapPacking& packing,
                               const ArrayShape& arrays, ConvolutionInput input,
                               int64_t scratch, CodeBuilder* b)
    : form_(form),
      block_(block),
      edge_(edge),
      packing_(packing),
      b_(*b),
      raw_(arrays, form.product.problem.k - packing.WholeFeatures(), b),
      whole_(arrays, 128, b),
      input_(std::move(input)),
      across_(block.axes.back().outputs * block.row_tiles),
      packed_across_(PackedTilesAcross(block)) {
  CHECK(arrays.bf16);
  b->NewBlock("addresses");
  input_at_ = packing.whole_tiles * input_.place.lane_pitch;
  scratch_.base = b->GlobalSca();
  b->ScratchAddress(scratch_.base, static_cast<int32_t>(scratch));
  b->SetBank(scratch_.base, CodeBuilder::kAbsoluteBanks,
             static_cast<int32_t>(scratch));
  scratch_.space = codegen::kPackedOperandSpace;
  scratch_.type = hlo::PrimitiveType::kBf16;
  for (int h = 0; h < 2; ++h) {
    half_[h] = b->GlobalVec();
    const Mask m = b->Range(0, isa::kLanes, 4 * h, 4 * h + 4);
    b->Move(half_[h], b->SelectImm(m, b->Imm(0xFFFFFFFFu), 0));
  }
  int64_t at = 0;
  for (const TapPacking::Run& run : packing.runs) {
    run_at_.push_back(run.taps == 1 ? -1 : at);
    if (run.taps > 1) {
      at += OuterPlanes(form, block) * packed_across_ * kPackedTile;
    }
  }
  for (const TapPacking::Tile& tile : packing.tiles) {
    tile_at_.push_back(tile.count == 1 ? -1 : at);
    if (tile.count > 1) {
      at += OuterOutputs(block) * packed_across_ * kPackedTile;
    }
  }
  Packer packer(this);
  for (size_t r = 0; r < packing.runs.size(); ++r) MakeRun(r, &packer);
  for (size_t t = 0; t < packing.tiles.size(); ++t) MakeTile(t, &packer);
  packer.Finish();
  b->NewBlock("addresses");
}

PackedOperands::PackedOperands(const ConvolutionForm& form,
                               const ConvolutionBlock& block,
                               const ConvolutionEdge& edge,
                               const TapPacking& packing,
                               const ArrayShape& arrays, ConvolutionInput input,
                               const isa::Window& weights, int weights_number,
                               int64_t scratch, CodeBuilder* b)
    : PackedOperands(form, block, edge, packing, arrays, std::move(input),
                     scratch, b) {
  weights_.emplace(form, block, packing, weights, weights_number, &raw_,
                   &whole_, b);
}

int64_t PackedOperands::RawOffset(int64_t outer, int64_t slice,
                                  int64_t tap) const {
  if (slice >= across_) return -1;
  const size_t last = form_.axes.size() - 1;
  const int64_t plane =
      PlaneAt(form_, block_, edge_, last, slice / block_.row_tiles, tap);
  if (plane < 0) return -1;
  return outer + plane * input_.plane_pitch[last] +
         slice % block_.row_tiles * input_.place.row_pitch + input_at_;
}

// For each outer plane of the input and each result along the last axis.
void PackedOperands::MakeRun(size_t run, Packer* packer) {
  if (run_at_[run] < 0) return;
  const TapPacking::Run& r = packing_.runs[run];
  const int64_t planes = OuterPlanes(form_, block_);
  for (int64_t n = 0; n < planes; ++n) {
    int64_t outer = 0, rest = n;
    bool inside = true;
    for (size_t a = form_.axes.size() - 1; a-- > 0;) {
      const int64_t plane = rest % block_.axes[a].planes;
      inside = inside && IsInside(form_, block_, edge_, a, plane);
      outer += plane * input_.plane_pitch[a];
      rest /= block_.axes[a].planes;
    }
    if (!inside) continue;
    for (int64_t slice = 0; slice < across_; slice += 2) {
      std::vector<Part> parts;
      for (int64_t t = 0; t < r.taps; ++t) {
        Part part;
        part.first = RawOffset(outer, slice, r.first + t);
        part.second = RawOffset(outer, slice + 1, r.first + t);
        part.lane = t * packing_.tap_lanes;
        if (part.first >= 0 || part.second >= 0) parts.push_back(part);
      }
      packer->Add(parts,
                  run_at_[run] + (n * packed_across_ + slice) * kPackedTile);
    }
  }
}

// What the outer taps of a tile meet, side by side, for each result.
void PackedOperands::MakeTile(size_t tile, Packer* packer) {
  if (tile_at_[tile] < 0) return;
  const TapPacking::Tile& t = packing_.tiles[tile];
  const int64_t outputs = OuterOutputs(block_);
  for (int64_t o = 0; o < outputs; ++o) {
    for (int64_t slice = 0; slice < across_; slice += 2) {
      std::vector<Part> parts;
      for (int64_t n = 0; n < t.count; ++n) {
        const Outer outer = OuterOf(o, t.first + n);
        if (outer.number < 0) continue;
        Part part;
        part.lane = n * packing_.RunLanes(t.run);
        part.raw = run_at_[t.run] < 0;
        if (part.raw) {
          const int64_t tap = packing_.runs[t.run].first;
          part.first = RawOffset(outer.offset, slice, tap);
          part.second = RawOffset(outer.offset, slice + 1, tap);
        } else {
          part.first = run_at_[t.run] +
                       (outer.number * packed_across_ + slice) * kPackedTile;
          part.second = part.first + kPackedTile;
        }
        if (part.first >= 0 || part.second >= 0) parts.push_back(part);
      }
      packer->Add(parts,
                  tile_at_[tile] + (o * packed_across_ + slice) * kPackedTile);
    }
  }
}

Vec PackedOperands::Load(const Part& part) {
  const int64_t from = part.first < 0 ? part.second : part.first;
  const int64_t to = part.second < 0 ? part.first : part.second;
  const Vec v =
      (part.raw ? raw_ : whole_)
          .Load(PlaceWithRows(part.raw ? input_.place : scratch_, to - from),
                from, 0, 0, 0, true)[0];
  if (part.first >= 0 && part.second >= 0) return v;
  return b_.Binary(Opcode::kVand, v, half_[part.first < 0 ? 1 : 0]);
}

PackedOperands::Outer PackedOperands::OuterOf(int64_t output,
                                              int64_t tap) const {
  Outer outer{0, 0};
  int64_t inside = 1;
  for (size_t a = form_.axes.size() - 1; a-- > 0;) {
    const AxisBlock& cut = block_.axes[a];
    const int64_t plane =
        PlaneAt(form_, block_, edge_, a, output % cut.outputs, tap % cut.taps);
    if (plane < 0) return {};
    outer.number += plane * inside;
    outer.offset += plane * input_.plane_pitch[a];
    inside *= cut.planes;
    output /= cut.outputs;
    tap /= cut.taps;
  }
  return outer;
}

int64_t PackedOperands::TileOffset(size_t tile, int64_t slice) const {
  const TapPacking::Tile& t = packing_.tiles[tile];
  if (slice >= OuterOutputs(block_) * across_) return -1;
  const int64_t output = slice / across_, at = slice % across_;
  if (tile_at_[tile] >= 0) {
    return tile_at_[tile] + (output * packed_across_ + at) * kPackedTile;
  }
  const Outer outer = OuterOf(output, t.first);
  if (outer.number < 0) return -1;
  if (run_at_[t.run] >= 0) {
    return run_at_[t.run] + (outer.number * packed_across_ + at) * kPackedTile;
  }
  // One tap alone: the input itself.
  const size_t last = form_.axes.size() - 1;
  const int64_t plane =
      PlaneAt(form_, block_, edge_, last, at / block_.row_tiles,
              packing_.runs[t.run].first);
  if (plane < 0) return -1;
  return outer.offset + plane * input_.plane_pitch[last] +
         at % block_.row_tiles * input_.place.row_pitch + input_at_;
}

int64_t PackedOperands::RowsOfK(int64_t k) const {
  return packing_.TileLanes(k / 128);
}

bool PackedOperands::Meets(int64_t /*batch*/, int64_t row, int64_t k) const {
  return TileOffset(k / 128, row / 8) >= 0 ||
         TileOffset(k / 128, row / 8 + 1) >= 0;
}

std::vector<Vec> PackedOperands::Lhs(int64_t /*batch*/, int64_t row,
                                     int64_t k) {
  const size_t tile = k / 128;
  const int64_t first = TileOffset(tile, row / 8);
  const int64_t second = TileOffset(tile, row / 8 + 1);
  if (first < 0 && second < 0) return {b_.Imm(0)};
  Part part;
  part.raw = tile_at_[tile] < 0 && run_at_[packing_.tiles[tile].run] < 0;
  part.first = first;
  part.second = second;
  return {Load(part)};
}

}  // namespace ptxla::lowering
