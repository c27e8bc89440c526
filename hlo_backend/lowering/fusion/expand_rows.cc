// NestCode: values per row are put on all lanes.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/codegen/spaces.h"
#include "hlo_backend/lowering/fusion/nest.h"

namespace ptxla::lowering {

using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

namespace {

// Planes, or groups of 16 row tiles, that are expanded in one block of code. Of
// a packed dense array four groups are whole words. The planes bound its
// length: of two tiles each, 64 take 340 cycles of v5e's XLUs, that fill and
// drain in 120; 16 groups take 512 on v6e.
constexpr int64_t kPlanesTogether = 64;
constexpr int64_t kGroupsTogether = 16;
// Row tiles of all planes of a block. Filling and draining the XLUs takes 127
// cycles on v6e, a tile 2: a seventh of the time is left to hide.
constexpr int64_t kTilesTogether = 384;

}  // namespace

// One value per row, from a dense array along lanes or from the first column
// of tiles, onto all lanes: an f32 tile of scratch per 8 rows.
class NestCode::RowExpander {
 public:
  RowExpander(NestCode* nest, const Stream& s, const Place& place)
      : nest_(*nest),
        g_(nest->g_),
        plan_(nest->plan_),
        extent_(nest->extent_),
        b_(nest->b_),
        s_(s),
        place_(place),
        a_(s.array),
        number_(static_cast<int>(&s - g_.streams.data())),
        row_tiles_(extent_[g_.row_axis]) {
    for (size_t x = 0; x < g_.axes.size(); ++x) {
      if (g_.axes[x].kind == Axis::Kind::kMajor && place.strides[x] != 0 &&
          extent_[x] > 1) {
        planes_.push_back(static_cast<int>(x));
      }
    }
  }

  absl::Status Emit() {
    if (s_.rows_from_rows && a_.packing > 1) {
      return absl::UnimplementedError("packed [.., rows, 1] operand");
    }
    b_.BeginScope();
    b_.NewBlock("expand rows");
    Addresses();
    FirstPlaneRow();
    PlaneOffsets();
    ChooseTogether();
    for (int x : planes_) {
      b_.BeginLoop(extent_[x] / (x == Innermost() ? together_ : 1), 1);
    }
    b_.NewBlock("expand rows");
    if (row_tiles_ > kPerLoop) {
      LongPlane();
    } else {
      PlanesAtOnce(together_);
    }
    for (size_t k = planes_.size(); k-- > 0;) EndPlanes(planes_[k]);
    b_.EndScope();
    return absl::OkStatus();
  }

 private:
  static constexpr int64_t kPerLoop = 16 * kGroupsTogether;

  int Innermost() const { return planes_.empty() ? -1 : planes_.back(); }

  // Where this step begins in the array, or in the window that moves along.
  void Addresses() {
    from_ = b_.GlobalSca();
    to_ = b_.GlobalSca();
    lanes_ = b_.GlobalVec();
    b_.WindowAddress(from_, place_.window);
    b_.ScratchAddress(to_, static_cast<int32_t>(place_.scratch));
    b_.Move(lanes_, b_.BinaryImm(Opcode::kVshrl, b_.LaneSequence(), 7));
    if (!s_.rows_from_rows) {
      AddGridOffset(g_.row_axis, LineBytes() / 16);
    } else if (!place_.moves) {
      AddGridOffset(g_.row_axis, a_.row_stride());
    }
  }

  // And which planes of the array the step has.
  void PlaneOffsets() {
    if (place_.moves) return;
    for (size_t x = 0; x < g_.axes.size(); ++x) {
      if (g_.axes[x].kind == Axis::Kind::kMajor &&
          static_cast<int>(x) != s_.row_axis && s_.strides[x] != 0) {
        AddGridOffset(static_cast<int>(x), s_.strides[x]);
      }
    }
  }

  // Bytes from 128 values along lanes to the next.
  int64_t LineBytes() const {
    return a_.rank() >= 2 ? a_.tile_bytes() : isa::kRowBytes / a_.packing;
  }

  void AddGridOffset(int axis, int64_t bytes_per_tile) {
    if (axis < 0 || plan_.grid_dim[axis] < 0) return;
    const Sca index = b_.NewSca();
    b_.GridIndex(index, plan_.grid_dim[axis]);
    b_.SBinaryTo(from_, Opcode::kSadd, from_,
                 b_.SMulImm(index, static_cast<int32_t>(bytes_per_tile *
                                                        plan_.block[axis])));
  }

  // A plane's row in a tiled array.
  void FirstPlaneRow() {
    if (s_.row_axis < 0) return;
    plane_row_ = b_.GlobalSca();
    b_.SImmTo(plane_row_, 0);
    const bool in_tiles = place_.moves && place_.row_divisor == 1;
    if (plan_.grid_dim[s_.row_axis] < 0 || in_tiles) return;
    const Sca index = b_.NewSca();
    b_.GridIndex(index, plan_.grid_dim[s_.row_axis]);
    const Sca row =
        b_.SMulImm(index, static_cast<int32_t>(plan_.block[s_.row_axis]));
    b_.SMove(plane_row_,
             place_.moves
                 ? b_.SBinaryImm(Opcode::kSand, row,
                                 static_cast<int32_t>(a_.tile_rows - 1))
                 : row);
  }

  // Planes of few tiles are expanded several at a time: the XLUs are filled
  // and drained once for all.
  void ChooseTogether() {
    if (planes_.empty()) return;
    if (row_tiles_ <= kPerLoop) {
      together_ = std::clamp<int64_t>(
          kTilesTogether / row_tiles_, 1,
          std::min<int64_t>(kPlanesTogether, extent_[Innermost()]));
    }
    left_ = extent_[Innermost()] % together_;
  }

  // The first line of a plane.
  Sca LineOf(Sca begin, Sca row) {
    if (s_.row_axis < 0) return begin;
    int64_t tile_shift = 0;
    while ((int64_t{1} << tile_shift) < a_.tile_rows) ++tile_shift;
    const Sca tile =
        b_.SBinaryImm(Opcode::kSshrl, row, static_cast<int32_t>(tile_shift));
    const Sca in_tile = b_.SBinaryImm(Opcode::kSand, row,
                                      static_cast<int32_t>(a_.tile_rows - 1));
    const int shift = a_.packing_log2();
    const Sca sublane =
        shift ? b_.SBinaryImm(Opcode::kSshrl, in_tile, shift) : in_tile;
    const Sca at = b_.SAdd(
        begin, b_.SMulImm(tile, static_cast<int32_t>(place_.row_stride)));
    return b_.SAdd(at, b_.SMulImm(sublane, isa::kRowBytes));
  }

  // Row tiles [first, end), at most 16, from one row of 128 values, or each
  // from its tile; `beyond`: bytes from `target` to the plane's.
  void Group(int64_t first, int64_t end, Sca line, Sca row, Sca target,
             int64_t beyond) {
    Vec words;
    if (s_.lanes_from_rows) {
      const int64_t q = first / 16;
      const int64_t at = a_.rank() >= 2 ? q * a_.tile_bytes()
                                        : q / a_.packing * isa::kRowBytes;
      words = b_.LoadRow(number_, line, static_cast<int32_t>(at));
      words = nest_.SelectRowPart(s_, words, row,
                                  a_.rank() >= 2 ? 0 : static_cast<int>(q));
    }
    for (int64_t tile = first; tile < end; ++tile) {
      const Vec value = s_.lanes_from_rows
                            ? FromRow(words, tile - first)
                            : FromTile(line, tile * a_.row_stride());
      b_.Store(codegen::kExpandedRowSpace + number_, target,
               static_cast<int32_t>(beyond + tile * isa::kVregBytes), value);
    }
  }

  // Values 8 * `k` ... + 7 of the row, each on its sublane.
  Vec FromRow(Vec words, int64_t k) {
    const Vec index =
        b_.BinaryImm(Opcode::kVaddS32, lanes_, static_cast<uint32_t>(8 * k));
    return b_.Permute(words, index);
  }

  // Nothing is read beyond a low tile of an array in VMEM.
  Vec FromTile(Sca line, int64_t offset) {
    const auto at = static_cast<int32_t>(offset);
    const auto sublanes = static_cast<int>(a_.tile_bytes() / isa::kRowBytes);
    return b_.BroadcastLane(place_.resident && sublanes < isa::kSublanes
                                ? b_.LoadStrided(number_, line, at, 0, sublanes)
                                : b_.Load(number_, line, at),
                            0);
  }

  // Row tiles [0, end) of a plane.
  void Groups(int64_t end, Sca line, Sca row, Sca target, int64_t beyond) {
    for (int64_t first = 0; first < end; first += 16) {
      Group(first, std::min(first + 16, end), line, row, target, beyond);
    }
  }

  // `count` planes side by side, in one block of code.
  void PlanesAtOnce(int64_t count) {
    for (int64_t u = 0; u < count; ++u) {
      Sca row = plane_row_, begin = from_;
      int64_t beyond = 0;
      if (u > 0) {
        const int x = Innermost();
        beyond = u * place_.strides[x];
        if (x == s_.row_axis) {
          row = b_.SAddImm(plane_row_, static_cast<int32_t>(u));
        } else {
          begin = b_.SAddImm(
              from_, static_cast<int32_t>(u * place_.source_strides[x]));
        }
      }
      const Sca line = LineOf(begin, row);
      // Lines of planes side by side may lie in any bank.
      if (count > 1) b_.SetBank(line, codegen::kUnknownBanks, 0);
      Groups(row_tiles_, line, row, to_, beyond);
    }
  }

  // One plane, kPerLoop row tiles at a time.
  void LongPlane() {
    const Sca target = b_.GlobalSca(), line = b_.GlobalSca();
    b_.SMove(target, to_);
    b_.SMove(line, LineOf(from_, plane_row_));
    b_.BeginLoop(row_tiles_ / kPerLoop, 1);
    Groups(kPerLoop, line, plane_row_, target, 0);
    const int64_t advance = s_.lanes_from_rows ? LineBytes() * (kPerLoop / 16)
                                               : a_.row_stride() * kPerLoop;
    b_.SBinaryImmTo(line, Opcode::kSadd, line, static_cast<int32_t>(advance));
    b_.SBinaryImmTo(target, Opcode::kSadd, target,
                    static_cast<int32_t>(kPerLoop * isa::kVregBytes));
    b_.EndLoop();
    b_.NewBlock("expand rows");
    Groups(row_tiles_ % kPerLoop, line, plane_row_, target, 0);
  }

  // Addresses of so many planes further along axis `x`.
  void Advance(int x, int64_t times) {
    b_.SBinaryImmTo(to_, Opcode::kSadd, to_,
                    static_cast<int32_t>(place_.strides[x] * times));
    if (x == s_.row_axis) {
      b_.SBinaryImmTo(plane_row_, Opcode::kSadd, plane_row_,
                      static_cast<int32_t>(times));
    } else {
      b_.SBinaryImmTo(from_, Opcode::kSadd, from_,
                      static_cast<int32_t>(place_.source_strides[x] * times));
    }
  }

  // The end of the loop over the planes of axis `x`, and those it left over.
  void EndPlanes(int x) {
    b_.NewBlock("next plane");
    Advance(x, x == Innermost() ? together_ : 1);
    b_.EndLoop();
    if (x == Innermost() && left_ > 0) {
      b_.NewBlock("expand rows of the last planes");
      PlanesAtOnce(left_);
      Advance(x, left_);
    }
    b_.NewBlock("first plane");
    Advance(x, -extent_[x]);
  }

  NestCode& nest_;
  const Geometry& g_;
  const NestPlan& plan_;
  const std::vector<int64_t>& extent_;
  codegen::CodeBuilder& b_;
  const Stream& s_;
  const Place& place_;
  const PhysicalArray& a_;
  const int number_;
  const int64_t row_tiles_;
  // Majors that the array varies along and that the step holds, one after
  // another in scratch.
  std::vector<int> planes_;
  int64_t together_ = 1, left_ = 0;  // planes of the innermost of them
  Sca from_, to_;
  Sca plane_row_;  // invalid: the array has no tiled rows of planes
  Vec lanes_;      // lane / 16
};

absl::Status NestCode::ExpandRows() {
  for (size_t k = 0; k < g_.streams.size(); ++k) {
    if (g_.streams[k].access == Access::kLaneOfRows &&
        !ExpandsInline(g_.streams[k])) {
      RETURN_IF_ERROR(RowExpander(this, g_.streams[k], places_[k]).Emit());
    }
  }
  return absl::OkStatus();
}

}  // namespace ptxla::lowering
