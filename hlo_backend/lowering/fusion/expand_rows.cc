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
// drain in 120.
constexpr int64_t kPlanesTogether = 64;
constexpr int64_t kGroupsTogether = 4;
// Row tiles of all planes of a block. Filling and draining the XLUs takes 127
// cycles on v6e, a tile 2: a seventh of the time is left to hide.
constexpr int64_t kTilesTogether = 384;

}  // namespace

absl::Status NestCode::ExpandRows() {
  for (size_t k = 0; k < g_.streams.size(); ++k) {
    if (g_.streams[k].access == Access::kLaneOfRows &&
        !ExpandsInline(g_.streams[k])) {
      RETURN_IF_ERROR(ExpandRows(g_.streams[k], places_[k]));
    }
  }
  return absl::OkStatus();
}

// One value per row, from a dense array along lanes or from the first column
// of tiles, onto all lanes: an f32 tile of scratch per 8 rows.
absl::Status NestCode::ExpandRows(const Stream& s, const Place& place) {
  const int number = static_cast<int>(&s - g_.streams.data());
  const PhysicalArray& a = s.array;
  const int64_t row_tiles = extent_[g_.row_axis];
  // Majors that the array varies along and that the step holds, one after
  // another in scratch.
  std::vector<int> planes;
  for (size_t x = 0; x < g_.axes.size(); ++x) {
    if (g_.axes[x].kind == Axis::Kind::kMajor && place.strides[x] != 0 &&
        extent_[x] > 1) {
      planes.push_back(static_cast<int>(x));
    }
  }
  if (s.rows_from_rows && a.packing > 1) {
    return absl::UnimplementedError("packed [.., rows, 1] operand");
  }
  b_.BeginScope();
  b_.NewBlock("expand rows");
  const Sca from = b_.GlobalSca(), to = b_.GlobalSca();
  const Vec lanes = b_.GlobalVec();
  b_.WindowAddress(from, place.window);
  b_.ScratchAddress(to, static_cast<int32_t>(place.scratch));
  b_.Move(lanes, b_.BinaryImm(Opcode::kVshrl, b_.LaneSequence(), 7));
  // Where this step begins in the array, or in the window that moves along.
  const auto grid_offset = [&](int axis, int64_t bytes_per_tile) {
    if (axis < 0 || plan_.grid_dim[axis] < 0) return;
    const Sca index = b_.NewSca();
    b_.GridIndex(index, plan_.grid_dim[axis]);
    b_.SBinaryTo(from, Opcode::kSadd, from,
                 b_.SMulImm(index, static_cast<int32_t>(bytes_per_tile *
                                                        plan_.block[axis])));
  };
  const int64_t row_bytes = 512 / a.packing;  // 128 elements
  if (s.rows_from_rows) {
    if (!place.moves) grid_offset(g_.row_axis, a.row_stride());
  } else {
    grid_offset(g_.row_axis, (a.rank() >= 2 ? a.tile_bytes() : row_bytes) / 16);
  }
  // A plane's row in a tiled array.
  Sca plane_row;
  if (s.row_axis >= 0) {
    plane_row = b_.GlobalSca();
    b_.SImmTo(plane_row, 0);
    const bool in_tiles = place.moves && place.row_divisor == 1;
    if (plan_.grid_dim[s.row_axis] >= 0 && !in_tiles) {
      const Sca index = b_.NewSca();
      b_.GridIndex(index, plan_.grid_dim[s.row_axis]);
      const Sca row =
          b_.SMulImm(index, static_cast<int32_t>(plan_.block[s.row_axis]));
      b_.SMove(plane_row,
               place.moves
                   ? b_.SBinaryImm(Opcode::kSand, row,
                                   static_cast<int32_t>(a.tile_rows - 1))
                   : row);
    }
  }
  for (size_t x = 0; x < g_.axes.size(); ++x) {
    if (g_.axes[x].kind == Axis::Kind::kMajor &&
        static_cast<int>(x) != s.row_axis && s.strides[x] != 0 &&
        !place.moves) {
      grid_offset(static_cast<int>(x), s.strides[x]);
    }
  }
  // Four groups of 16 row tiles fill the XLUs well.
  const int64_t per_loop = 16 * kGroupsTogether;
  // Planes of few tiles are expanded several at a time: the XLUs are filled
  // and drained once for all.
  int64_t together = 1;
  if (!planes.empty() && row_tiles <= per_loop) {
    together = std::clamp<int64_t>(
        kTilesTogether / row_tiles, 1,
        std::min<int64_t>(kPlanesTogether, extent_[planes.back()]));
  }
  const int64_t left = planes.empty() ? 0 : extent_[planes.back()] % together;
  for (int x : planes) {
    b_.BeginLoop(extent_[x] / (x == planes.back() ? together : 1), 1);
  }
  b_.NewBlock("expand rows");
  // The first line of a plane.
  const auto line_of = [&](Sca begin, Sca row) {
    if (s.row_axis < 0) return begin;
    int64_t tile_shift = 0;
    while ((int64_t{1} << tile_shift) < a.tile_rows) ++tile_shift;
    const Sca tile =
        b_.SBinaryImm(Opcode::kSshrl, row, static_cast<int32_t>(tile_shift));
    const Sca in_tile = b_.SBinaryImm(Opcode::kSand, row,
                                      static_cast<int32_t>(a.tile_rows - 1));
    const int shift = a.packing_log2();
    const Sca sublane =
        shift ? b_.SBinaryImm(Opcode::kSshrl, in_tile, shift) : in_tile;
    const Sca at = b_.SAdd(
        begin, b_.SMulImm(tile, static_cast<int32_t>(place.row_stride)));
    return b_.SAdd(at, b_.SMulImm(sublane, 512));
  };
  // `count` row tiles from one row of 128 values, or from `count` tiles.
  const auto group = [&](int64_t first, int count, Sca line, Sca row,
                         Sca target, int64_t beyond) {
    Vec words;
    if (s.lanes_from_rows) {
      const int64_t q = first / 16;
      const int64_t at =
          a.rank() >= 2 ? q * a.tile_bytes() : q / a.packing * 512;
      words = b_.LoadRow(number, line, static_cast<int32_t>(at));
      words =
          SelectRowPart(s, words, row, a.rank() >= 2 ? 0 : static_cast<int>(q));
    }
    for (int k = 0; k < count; ++k) {
      Vec value;
      if (s.lanes_from_rows) {
        const Vec index =
            b_.BinaryImm(Opcode::kVaddS32, lanes, static_cast<uint32_t>(8 * k));
        value = b_.Permute(words, index);
      } else {
        const auto at = static_cast<int32_t>((first + k) * a.row_stride());
        // Nothing is read beyond a low tile of an array in VMEM.
        const auto sublanes = static_cast<int>(a.tile_bytes() / isa::kRowBytes);
        value =
            b_.BroadcastLane(place.resident && sublanes < isa::kSublanes
                                 ? b_.LoadStrided(number, line, at, 0, sublanes)
                                 : b_.Load(number, line, at),
                             0);
      }
      b_.Store(codegen::kExpandedRowSpace + number, target,
               static_cast<int32_t>(beyond + (first + k) * isa::kVregBytes),
               value);
    }
  };
  const auto planes_at_once = [&](int64_t count) {
    for (int64_t u = 0; u < count; ++u) {
      Sca row = plane_row, begin = from;
      int64_t beyond = 0;
      if (u > 0) {
        const int x = planes.back();
        beyond = u * place.strides[x];
        if (x == s.row_axis) {
          row = b_.SAddImm(plane_row, static_cast<int32_t>(u));
        } else {
          begin = b_.SAddImm(from,
                             static_cast<int32_t>(u * place.source_strides[x]));
        }
      }
      const Sca line = line_of(begin, row);
      // Lines of planes side by side may lie in any bank.
      if (count > 1) b_.SetBank(line, codegen::kUnknownBanks, 0);
      for (int64_t first = 0; first < row_tiles; first += 16) {
        group(first, static_cast<int>(std::min<int64_t>(16, row_tiles - first)),
              line, row, to, beyond);
      }
    }
  };
  if (row_tiles > per_loop) {
    const Sca target = b_.GlobalSca(), line = b_.GlobalSca();
    b_.SMove(target, to);
    b_.SMove(line, line_of(from, plane_row));
    b_.BeginLoop(row_tiles / per_loop, 1);
    for (int64_t first = 0; first < per_loop; first += 16) {
      group(first, 16, line, plane_row, target, 0);
    }
    const int64_t advance =
        s.lanes_from_rows
            ? (a.rank() >= 2 ? a.tile_bytes() : row_bytes) * (per_loop / 16)
            : a.row_stride() * per_loop;
    b_.SBinaryImmTo(line, Opcode::kSadd, line, static_cast<int32_t>(advance));
    b_.SBinaryImmTo(target, Opcode::kSadd, target,
                    static_cast<int32_t>(per_loop * isa::kVregBytes));
    b_.EndLoop();
    const int64_t rest = row_tiles % per_loop;
    b_.NewBlock("expand rows");
    for (int64_t first = 0; first < rest; first += 16) {
      group(first, static_cast<int>(std::min<int64_t>(16, rest - first)), line,
            plane_row, target, 0);
    }
  } else {
    planes_at_once(together);
  }
  for (size_t k = planes.size(); k-- > 0;) {
    const int x = planes[k];
    const auto move = [&](int64_t times) {
      b_.SBinaryImmTo(to, Opcode::kSadd, to,
                      static_cast<int32_t>(place.strides[x] * times));
      if (x == s.row_axis) {
        b_.SBinaryImmTo(plane_row, Opcode::kSadd, plane_row,
                        static_cast<int32_t>(times));
      } else {
        b_.SBinaryImmTo(from, Opcode::kSadd, from,
                        static_cast<int32_t>(place.source_strides[x] * times));
      }
    };
    b_.NewBlock("next plane");
    move(x == planes.back() ? together : 1);
    b_.EndLoop();
    if (x == planes.back() && left > 0) {
      b_.NewBlock("expand rows of the last planes");
      planes_at_once(left);
      move(left);
    }
    b_.NewBlock("first plane");
    move(-extent_[x]);
  }
  b_.EndScope();
  return absl::OkStatus();
}

}  // namespace ptxla::lowering
