// NestCode: how leaves are read, indices made and results written.
#include <algorithm>

#include "base/check.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/codegen/stream.h"
#include "hlo_backend/lowering/fusion/nest.h"
#include "hlo_backend/lowering/narrow_type.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Mask;
using codegen::Sca;
using codegen::Vec;
using hlo::PrimitiveType;
using isa::Opcode;

// Planes, or groups of 16 row tiles, that are expanded in one block of code. Of
// a packed dense array four groups are whole words.
static constexpr int64_t kPlanesTogether = 4;
static constexpr int64_t kGroupsTogether = 4;

void NestCode::PrepareNarrowTiles() {
  int uses = 0;
  for (const Stream& s : g_.streams) {
    if (!s.tile_by_tile) continue;
    uses |= s.node >= 0 ? codegen::NarrowTiles::LoadOf(s.array.bits)
                        : codegen::NarrowTiles::StoreOf(s.array.bits);
  }
  narrow_.emplace(&b_, uses);
}

// Expands part `part` of a packed register to 32 bits per row.
Vec NestCode::Unpack(const Stream& s, Vec packed, int part) {
  static constexpr Opcode kS8[] = {Opcode::kVunpackC0S8, Opcode::kVunpackC1S8,
                                   Opcode::kVunpackC2S8, Opcode::kVunpackC3S8};
  static constexpr Opcode kU8[] = {Opcode::kVunpackC0U8, Opcode::kVunpackC1U8,
                                   Opcode::kVunpackC2U8, Opcode::kVunpackC3U8};
  switch (s.array.type) {
    case PrimitiveType::kBf16:
      return b_.Unary(part ? Opcode::kVunpackCHBf16 : Opcode::kVunpackCLBf16,
                      packed);
    case PrimitiveType::kF16:
      return b_.Unary(part ? Opcode::kVunpackCHF16 : Opcode::kVunpackCLF16,
                      packed);
    case PrimitiveType::kS16:
      return b_.Unary(part ? Opcode::kVunpackCHS16 : Opcode::kVunpackCLS16,
                      packed);
    case PrimitiveType::kU16:
      return b_.Unary(part ? Opcode::kVunpackCHU16 : Opcode::kVunpackCLU16,
                      packed);
    case PrimitiveType::kS8:
      return b_.Unary(kS8[part], packed);
    default:
      return b_.Unary(kU8[part], packed);
  }
}

Value NestCode::FromMemory(const Stream& s, Vec words) {
  if (s.array.type == PrimitiveType::kPred) {
    return Value::Of(b_.CompareImm(Opcode::kVcmpNeS32, words, 0));
  }
  return Value::Of(words);
}

// One row of a packed array, as words that hold `packing` rows: takes the rows
// number `row` (dynamic) + `static_part`, modulo the packing.
Vec NestCode::SelectRowPart(const Stream& s, Vec words, Sca row,
                            int static_part) {
  const int packing = s.array.packing;
  if (packing == 1) return words;
  const int bits = s.array.bits;
  const bool is_float = hlo::IsFloat(s.array.type);
  Vec low = words;
  if (row.valid()) {
    const Sca part =
        b_.SBinaryImm(Opcode::kSand, b_.SAddImm(row, static_part), packing - 1);
    low = b_.Binary(Opcode::kVshrl, words, b_.Splat(b_.SMulImm(part, bits)));
  } else if (static_part % packing != 0) {
    low = b_.BinaryImm(Opcode::kVshrl, words,
                       static_cast<uint32_t>(static_part % packing * bits));
  }
  if (s.array.type == PrimitiveType::kF16) {
    return b_.Unary(Opcode::kVunpackCLF16, low);  // refused in MakeLeaf
  }
  if (is_float) return b_.BinaryImm(Opcode::kVshll, low, 16);
  if (hlo::IsSigned(s.array.type)) {
    return b_.BinaryImm(
        Opcode::kVshra,
        b_.BinaryImm(Opcode::kVshll, low, static_cast<uint32_t>(32 - bits)),
        static_cast<uint32_t>(32 - bits));
  }
  return b_.BinaryImm(Opcode::kVand, low, (1u << bits) - 1);
}

// Index of the first element of the axis, `tiles` base tiles further on.
Sca NestCode::Coordinate(int axis, int tiles) {
  const int number = coordinate_pointer_[axis];
  const Pointer& p = pointers_[number];
  return b_.SAddImm(ValueOf(number),
                    static_cast<int32_t>(p.offset + tiles * p.strides[axis]));
}

// The rows of one tile of a narrow array, at base + offset.
Vec NestCode::LoadTile(const Stream& s, Sca base, int64_t offset) {
  const int number = static_cast<int>(&s - g_.streams.data());
  const int32_t at = static_cast<int32_t>(offset);
  if (!g_.packs) {
    return narrow_->Load(NarrowTypeOf(s.array.type), number, base, at);
  }
  // Its rows of memory again and again: nothing beyond them is read.
  const int rows = static_cast<int>(s.array.tile_bytes() / isa::kRowBytes);
  return Unpack(s, b_.LoadStrided(number, base, at, 0, rows), 0);
}

// Writes the first `rows` rows of memory of one tile.
absl::Status NestCode::StoreTile(const Stream& s, Sca base, int64_t offset,
                                 Vec words, int rows) {
  const int number = static_cast<int>(&s - g_.streams.data());
  const int32_t at = static_cast<int32_t>(offset);
  const PrimitiveType type = s.array.type;
  if (g_.packs) {
    const std::vector<Vec> parts(s.array.packing, words);
    b_.StoreMasked(number, base, at, Pack(s, parts), b_.Range(0, 128, 0, rows));
    return absl::OkStatus();
  }
  if (type == PrimitiveType::kF16) {
    return absl::UnimplementedError("f16 result of a vector kernel");
  }
  narrow_->Store(NarrowTypeOf(type), number, base, at, words, rows);
  return absl::OkStatus();
}

absl::StatusOr<Value> NestCode::MakeLeaf(const ExprNode& node, int row,
                                         int column) {
  const int number = stream_of_node_[&node - e_.nodes.data()];
  const Stream& s = g_.streams[number];
  const Place& place = places_[number];
  const PhysicalArray& a = s.array;
  if (hlo::IsFloat(a.type) && a.type != PrimitiveType::kF32 &&
      a.type != PrimitiveType::kBf16 &&
      !(a.type == PrimitiveType::kF16 && s.access == Access::kTile &&
        g_.packs)) {
    return absl::UnimplementedError(
        absl::StrCat(node.instr->name(), ": ", hlo::PrimitiveTypeName(a.type),
                     " operand of a vector kernel"));
  }
  const auto stride = [&](int axis) -> int64_t {
    return axis < 0 ? 0 : place.strides[axis];
  };
  if (place.kind == Place::Kind::kSmem) {
    const Sca address = b_.NewSca();
    b_.WindowAddress(address, place.window);
    Sca word = b_.SLoad(number, address, 0);
    if (a.type == PrimitiveType::kBf16) {
      word = b_.SBinaryImm(Opcode::kSshll, word, 16);
    } else if (a.bits < 32) {
      word = b_.SBinaryImm(Opcode::kSshll, word, 32 - a.bits);
      word =
          b_.SBinaryImm(hlo::IsSigned(a.type) ? Opcode::kSshra : Opcode::kSshrl,
                        word, 32 - a.bits);
    }
    return FromMemory(s, b_.Splat(word));
  }
  const Pointer& p = pointers_[stream_pointer_[number]];
  const Sca start = ValueOf(stream_pointer_[number]);
  if (place.kind == Place::Kind::kScratch) {
    const int64_t offset =
        p.offset + row * stride(g_.row_axis) + column * stride(g_.column_axis);
    return FromMemory(s, b_.Load(number, start, static_cast<int32_t>(offset)));
  }
  if (s.access == Access::kTile) {
    const int r0 = row / s.pack_rows * s.pack_rows;
    const int c0 = column / s.pack_columns * s.pack_columns;
    const int64_t offset =
        p.offset + r0 * stride(g_.row_axis) + c0 * stride(g_.column_axis);
    const int64_t key = int64_t{number} << 20 | r0 << 10 | c0;
    Vec& loaded = loads_[key];
    if (!loaded.valid()) {
      loaded = s.tile_by_tile
                   ? LoadTile(s, start, offset)
                   : b_.Load(number, start, static_cast<int32_t>(offset));
    }
    Vec words = loaded;
    if (a.packing > 1 && !s.tile_by_tile) {
      words = Unpack(s, loaded, s.pack_rows > 1 ? row - r0 : column - c0);
    }
    return FromMemory(s, words);
  }
  // A row of the array: the one that the column tile names (dense 1-D arrays),
  // or that a major index chooses.
  Sca base = start;
  int64_t offset = p.offset;
  Vec words;
  if (a.rank() <= 1) {
    if (s.lane_axis >= 0) {
      // Element number = index of the axis: row index / 128.
      const Sca at = Coordinate(s.lane_axis, 0);
      const Sca r = b_.SBinaryImm(Opcode::kSshrl, at, 7);
      const int shift = a.packing == 1 ? 0 : a.packing == 2 ? 1 : 2;
      const Sca row_word = shift ? b_.SBinaryImm(Opcode::kSshrl, r, shift) : r;
      base = b_.SAdd(base, b_.SMulImm(row_word, 512));
      words = b_.LoadRow(number, base, static_cast<int32_t>(offset));
      words = SelectRowPart(s, words, a.packing > 1 ? r : Sca(), 0);
      const Sca lane = b_.SBinaryImm(Opcode::kSand, at, 127);
      return FromMemory(s, b_.BroadcastLane(words, lane));
    }
    const int64_t at = offset + column * stride(g_.column_axis);
    words = b_.LoadRow(number, base, static_cast<int32_t>(at / 512 * 512));
    words = SelectRowPart(s, words, Sca(), column % a.packing);
    if (s.access == Access::kSplat) words = b_.BroadcastLane(words, 0);
    return FromMemory(s, words);
  }
  Sca row_index;
  if (s.row_axis >= 0) {
    row_index = Coordinate(s.row_axis, 0);
    int64_t tile_shift = 0;
    while ((int64_t{1} << tile_shift) < a.tile_rows) ++tile_shift;
    const Sca tile = b_.SBinaryImm(Opcode::kSshrl, row_index,
                                   static_cast<int32_t>(tile_shift));
    const Sca in_tile = b_.SBinaryImm(Opcode::kSand, row_index,
                                      static_cast<int32_t>(a.tile_rows - 1));
    const int shift = a.packing == 1 ? 0 : a.packing == 2 ? 1 : 2;
    const Sca sublane =
        shift ? b_.SBinaryImm(Opcode::kSshrl, in_tile, shift) : in_tile;
    base =
        b_.SAdd(base, b_.SMulImm(tile, static_cast<int32_t>(a.row_stride())));
    base = b_.SAdd(base, b_.SMulImm(sublane, 512));
  }
  offset +=
      s.access == Access::kRowOfLanes ? column * stride(g_.column_axis) : 0;
  if (s.lane_axis >= 0) {
    const Sca at = Coordinate(s.lane_axis, 0);
    const Sca tile = b_.SBinaryImm(Opcode::kSshrl, at, 7);
    base =
        b_.SAdd(base, b_.SMulImm(tile, static_cast<int32_t>(a.tile_bytes())));
    words = b_.LoadRow(number, base, static_cast<int32_t>(offset));
    words = SelectRowPart(s, words, row_index, 0);
    return FromMemory(
        s, b_.BroadcastLane(words, b_.SBinaryImm(Opcode::kSand, at, 127)));
  }
  words = b_.LoadRow(number, base, static_cast<int32_t>(offset));
  words = SelectRowPart(s, words, row_index, 0);
  if (s.access == Access::kSplat) words = b_.BroadcastLane(words, 0);
  return FromMemory(s, words);
}

absl::StatusOr<Value> NestCode::MakeIota(const ExprNode& node, int row,
                                         int column) {
  const int axis = node.iota_dim < 0 ? -1 : g_.axis_of_dim[node.iota_dim];
  Vec index;
  if (axis < 0) {
    index = b_.Imm(0);
  } else {
    const Axis::Kind kind = g_.axes[axis].kind;
    const int tiles = kind == Axis::Kind::kRow      ? row
                      : kind == Axis::Kind::kColumn ? column
                                                    : 0;
    const Vec start = b_.Splat(Coordinate(axis, tiles));
    index = start;
    if (kind == Axis::Kind::kRow) {
      index = b_.Binary(Opcode::kVaddS32, start, sublane_);
    } else if (kind == Axis::Kind::kColumn) {
      index = b_.Binary(Opcode::kVaddS32, start, lane_);
    }
  }
  if (hlo::IsFloat(node.type)) index = b_.Unary(Opcode::kVcvtF32S32, index);
  return Value::Of(index);
}

Vec NestCode::AsWords(int node, Value v) {
  (void)node;
  return v.is_mask() ? MaskToNumber(b_, v.mask, false) : v.vec;
}

absl::Status NestCode::StoreResults(const Region& region) {
  int unit_rows = 1, unit_columns = 1;
  for (const Stream& s : g_.streams) {
    if (s.result < 0) continue;
    unit_rows = std::max(unit_rows, s.pack_rows);
    unit_columns = std::max(unit_columns, s.pack_columns);
  }
  for (int r = 0; r < region.rows; r += unit_rows) {
    for (int c = 0; c < region.columns; c += unit_columns) {
      for (size_t k = 0; k < g_.streams.size(); ++k) {
        const Stream& s = g_.streams[k];
        if (s.result < 0 || e_.stage[s.root] != stage_) continue;
        for (int y = r; y < std::min(r + unit_rows, region.rows);
             y += s.pack_rows) {
          for (int x = c; x < std::min(c + unit_columns, region.columns);
               x += s.pack_columns) {
            RETURN_IF_ERROR(StoreResult(s, places_[k], y, x, region));
          }
        }
      }
    }
  }
  return absl::OkStatus();
}

// A register of the stream from its base tiles.
Vec NestCode::Pack(const Stream& s, absl::Span<const Vec> parts) {
  const PrimitiveType type = s.array.type;
  if (parts.size() == 1) return parts[0];
  if (parts.size() == 2) {
    const Opcode op = type == PrimitiveType::kBf16  ? Opcode::kVpackCBf16
                      : type == PrimitiveType::kF16 ? Opcode::kVpackCF16
                                                    : Opcode::kVpackCB16;
    return b_.Binary(op, parts[0], parts[1]);
  }
  return b_.Binary(Opcode::kVpackCB8,
                   b_.Binary(Opcode::kVpackCB16, parts[0], parts[1]),
                   b_.Binary(Opcode::kVpackCB16, parts[2], parts[3]));
}

absl::Status NestCode::StoreResult(const Stream& s, const Place& place, int row,
                                   int column, const Region& region) {
  const int number = static_cast<int>(&s - g_.streams.data());
  const int node = e_.roots[s.root];
  const int parts = s.pack_rows * s.pack_columns;
  absl::InlinedVector<Vec, 4> words;
  int valid = 0;
  for (int k = 0; k < parts; ++k) {
    const int r = row + (s.pack_rows > 1 ? k : 0);
    const int c = column + (s.pack_rows > 1 ? 0 : k);
    if (r < region.rows && c < region.columns) {
      ASSIGN_OR_RETURN(Value v, Eval(node, r, c));
      words.push_back(AsWords(node, v));
      valid = k + 1;
    } else {
      words.push_back(words.back());  // padding
    }
  }
  const Pointer& p = pointers_[stream_pointer_[number]];
  const int64_t offset =
      p.offset + (g_.row_axis < 0 ? 0 : row * place.strides[g_.row_axis]) +
      column * place.strides[g_.column_axis];
  const Sca start = ValueOf(stream_pointer_[number]);
  const PrimitiveType type = s.array.type;
  if (hlo::BitWidth(type) == 8 && hlo::IsFloat(type)) {
    return absl::UnimplementedError(absl::StrCat(hlo::PrimitiveTypeName(type),
                                                 " result of a vector kernel"));
  }
  if (s.tile_by_tile) {
    int rows = isa::kSublanes / s.array.packing;
    if (!g_.linear) {
      rows = static_cast<int>(s.array.tile_bytes() / isa::kRowBytes);
    } else if (place.resident && region.column_end &&
               column + 1 == region.columns) {
      // The array may end within the tile.
      const int64_t rest =
          s.array.bytes() % (isa::kVregBytes / s.array.packing);
      if (rest != 0) rows = static_cast<int>(rest / isa::kRowBytes);
    }
    return StoreTile(s, start, offset, words[0], rows);
  }
  const Vec packed = Pack(s, words);
  int sublanes = 8;
  if (g_.base_rows < 8) sublanes = g_.base_rows;
  if (place.resident) {
    if (s.pack_columns > 1 && valid < parts) sublanes = valid * (8 / parts);
    if (g_.linear && region.column_end &&
        column + s.pack_columns >= region.columns) {
      // The array may end within the register.
      const int64_t total = s.array.bytes();
      const int64_t rest = total % isa::kVregBytes;
      if (rest != 0) sublanes = static_cast<int>(rest / isa::kRowBytes);
    }
  }
  if (sublanes < 8) {
    const Mask mask = b_.Range(0, 128, 0, sublanes);
    b_.StoreMasked(number, start, static_cast<int32_t>(offset), packed, mask);
  } else {
    b_.Store(number, start, static_cast<int32_t>(offset), packed);
  }
  return absl::OkStatus();
}

absl::Status NestCode::ExpandRows() {
  for (size_t k = 0; k < g_.streams.size(); ++k) {
    if (g_.streams[k].access == Access::kLaneOfRows) {
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
  // Where this step begins in the whole array.
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
    grid_offset(g_.row_axis, a.row_stride());
  } else {
    grid_offset(g_.row_axis, (a.rank() >= 2 ? a.tile_bytes() : row_bytes) / 16);
  }
  // A plane's row in a tiled array.
  Sca plane_row;
  if (s.row_axis >= 0) {
    plane_row = b_.GlobalSca();
    b_.SImmTo(plane_row, 0);
    if (plan_.grid_dim[s.row_axis] >= 0) {
      const Sca index = b_.NewSca();
      b_.GridIndex(index, plan_.grid_dim[s.row_axis]);
      b_.SMove(
          plane_row,
          b_.SMulImm(index, static_cast<int32_t>(plan_.block[s.row_axis])));
    }
  }
  for (size_t x = 0; x < g_.axes.size(); ++x) {
    if (g_.axes[x].kind == Axis::Kind::kMajor &&
        static_cast<int>(x) != s.row_axis && s.strides[x] != 0) {
      grid_offset(static_cast<int>(x), s.strides[x]);
    }
  }
  // Four groups of 16 row tiles fill the XLUs well.
  const int64_t per_loop = 16 * kGroupsTogether;
  // Planes of few tiles are expanded several at a time: the XLUs are filled
  // and drained once for all.
  int64_t together = 1;
  if (!planes.empty() && row_tiles <= 16) {
    for (int64_t n = 2; n <= kPlanesTogether; ++n) {
      if (extent_[planes.back()] % n == 0) together = n;
    }
  }
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
    const int shift = a.packing == 1 ? 0 : a.packing == 2 ? 1 : 2;
    const Sca sublane =
        shift ? b_.SBinaryImm(Opcode::kSshrl, in_tile, shift) : in_tile;
    const Sca at =
        b_.SAdd(begin, b_.SMulImm(tile, static_cast<int32_t>(a.row_stride())));
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
        value = b_.BroadcastLane(
            b_.Load(number, line,
                    static_cast<int32_t>((first + k) * a.row_stride())),
            0);
      }
      b_.Store(number + 1000, target,
               static_cast<int32_t>(beyond + (first + k) * isa::kVregBytes),
               value);
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
    for (int64_t u = 0; u < together; ++u) {
      Sca row = plane_row, begin = from;
      int64_t beyond = 0;
      if (u > 0) {
        const int x = planes.back();
        beyond = u * place.strides[x];
        if (x == s.row_axis) {
          row = b_.SAddImm(plane_row, static_cast<int32_t>(u));
        } else {
          begin = b_.SAddImm(from, static_cast<int32_t>(u * s.strides[x]));
        }
      }
      const Sca line = line_of(begin, row);
      for (int64_t first = 0; first < row_tiles; first += 16) {
        group(first, static_cast<int>(std::min<int64_t>(16, row_tiles - first)),
              line, row, to, beyond);
      }
    }
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
                        static_cast<int32_t>(s.strides[x] * times));
      }
    };
    b_.NewBlock("next plane");
    move(x == planes.back() ? together : 1);
    b_.EndLoop();
    b_.NewBlock("first plane");
    move(-extent_[x]);
  }
  b_.EndScope();
  return absl::OkStatus();
}

}  // namespace ptxla::lowering
