// NestCode: how leaves are read and indices made.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/fusion/f16_conversion.h"
#include "hlo_backend/lowering/fusion/nest.h"
#include "hlo_backend/lowering/fusion/small_float_conversion.h"
#include "hlo_backend/lowering/narrow_type.h"

namespace ptxla::lowering {

using codegen::Sca;
using codegen::Vec;
using hlo::PrimitiveType;
using isa::Opcode;

// Expands part `part` of a packed register to 32 bits per row.
Vec NestCode::Unpack(const Stream& s, Vec packed, int part) {
  static constexpr Opcode kS8[] = {Opcode::kVunpackC0S8, Opcode::kVunpackC1S8,
                                   Opcode::kVunpackC2S8, Opcode::kVunpackC3S8};
  static constexpr Opcode kU8[] = {Opcode::kVunpackC0U8, Opcode::kVunpackC1U8,
                                   Opcode::kVunpackC2U8, Opcode::kVunpackC3U8};
  static constexpr Opcode kF8[] = {
      Opcode::kVunpackC0F8E5M2, Opcode::kVunpackC1F8E5M2,
      Opcode::kVunpackC2F8E5M2, Opcode::kVunpackC3F8E5M2};
  switch (s.array.type) {
    case PrimitiveType::kF8E5M2:
      return b_.Unary(kF8[part], packed);
    case PrimitiveType::kBf16:
      return b_.Unary(part ? Opcode::kVunpackCHBf16 : Opcode::kVunpackCLBf16,
                      packed);
    case PrimitiveType::kF16:
      return UnpackF16(b_, packed, part);
    case PrimitiveType::kS16:
      return b_.Unary(part ? Opcode::kVunpackCHS16 : Opcode::kVunpackCLS16,
                      packed);
    case PrimitiveType::kU16:
      return b_.Unary(part ? Opcode::kVunpackCHU16 : Opcode::kVunpackCLU16,
                      packed);
    default: {
      const auto small = SmallFloatFormatOf(s.array.type);
      const bool is_signed = hlo::IsSigned(s.array.type) || small.has_value();
      const Vec words = b_.Unary(is_signed ? kS8[part] : kU8[part], packed);
      return small.has_value() ? UnpackSmallFloat(b_, *small, words) : words;
    }
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
    return WidenF16(b_, low);
  }
  if (is_float && bits == 16) return b_.BinaryImm(Opcode::kVshll, low, 16);
  if (is_float || hlo::IsSigned(s.array.type)) {
    const Vec word = b_.BinaryImm(
        Opcode::kVshra,
        b_.BinaryImm(Opcode::kVshll, low, static_cast<uint32_t>(32 - bits)),
        static_cast<uint32_t>(32 - bits));
    const auto small = SmallFloatFormatOf(s.array.type);
    return small.has_value() ? UnpackSmallFloat(b_, *small, word) : word;
  }
  return b_.BinaryImm(Opcode::kVand, low, (1u << bits) - 1);
}

// The rows of one tile of a narrow array, at base + offset.
Vec NestCode::LoadTile(const Stream& s, Sca base, int64_t offset) {
  const int number = static_cast<int>(&s - g_.streams.data());
  const int32_t at = static_cast<int32_t>(offset);
  if (!g_.Packs(s.array.bits)) {
    const Vec words =
        narrow_->Load(NarrowTypeOf(s.array.type), number, base, at);
    // The upper byte of an f16 is an f8e5m2.
    if (s.array.type == PrimitiveType::kF16 ||
        s.array.type == PrimitiveType::kF8E5M2) {
      return WidenUpperF16(b_, words);
    }
    const auto small = SmallFloatFormatOf(s.array.type);
    return small.has_value() ? UnpackSmallFloat(b_, *small, words) : words;
  }
  // Its rows of memory again and again: nothing beyond them is read.
  const int rows = static_cast<int>(s.array.tile_bytes() / isa::kRowBytes);
  return Unpack(s, b_.LoadStrided(number, base, at, 0, rows), 0);
}

int64_t NestCode::RegisterOffset(int number, int row, int column) const {
  const Stream& s = g_.streams[number];
  const Place& place = places_[number];
  const int r0 = row / s.pack_rows * s.pack_rows;
  const int c0 = column / s.pack_columns * s.pack_columns;
  int64_t offset = pointers_[stream_pointer_[number]].offset;
  if (g_.row_axis >= 0) offset += r0 * place.strides[g_.row_axis];
  if (g_.column_axis >= 0) offset += c0 * place.strides[g_.column_axis];
  return offset;
}

// One tile of a register of bytes.
Vec NestCode::LoadPart(int number, int row, int column) {
  const Stream& s = g_.streams[number];
  const int part =
      s.pack_rows > 1 ? row % s.pack_rows : column % s.pack_columns;
  return LoadTile(s, ValueOf(stream_pointer_[number]),
                  RegisterOffset(number, row, column) +
                      part * (isa::kVregBytes / s.array.packing));
}

// Lanes of a slice from lane 0 on; beyond them is what nobody reads, or the
// lanes before them.
Vec NestCode::FromFirstLane(const Stream& s, Vec words) {
  const int first = s.node < 0 ? 0 : e_.nodes[s.node].first_lane;
  if (first == 0) return words;
  const Vec from = b_.RotateLanes(words, isa::kLanes - first);
  const int turned = e_.nodes[s.node].turned_lanes;
  if (turned == 0 || turned == isa::kLanes) return from;
  const int last = turned - first;
  return b_.Select(b_.Range(0, last, 0, isa::kSublanes), from,
                   b_.RotateLanes(words, last));
}

// The register of a stream of tiles that holds this one, loaded once.
Vec NestCode::LoadRegister(int number, int row, int column) {
  const Stream& s = g_.streams[number];
  const int r0 = row / s.pack_rows * s.pack_rows;
  const int c0 = column / s.pack_columns * s.pack_columns;
  Vec& loaded = loads_[{number, r0, c0}];
  if (loaded.valid()) return loaded;
  const Sca start = ValueOf(stream_pointer_[number]);
  const int64_t offset = RegisterOffset(number, row, column);
  loaded = FromFirstLane(
      s, s.tile_by_tile ? LoadTile(s, start, offset)
                        : b_.Load(number, start, static_cast<int32_t>(offset)));
  return loaded;
}

// A scalar in SMEM, in every lane.
Vec NestCode::MakeScalar(int number) {
  const Stream& s = g_.streams[number];
  const PhysicalArray& a = s.array;
  const Sca address = b_.NewSca();
  b_.WindowAddress(address, places_[number].window);
  Sca word = b_.SLoad(number, address, 0);
  if (a.type == PrimitiveType::kBf16) {
    word = b_.SBinaryImm(Opcode::kSshll, word, 16);
  } else if (a.bits < 32) {
    word = b_.SBinaryImm(Opcode::kSshll, word, 32 - a.bits);
    const bool is_signed = hlo::IsSigned(a.type) || hlo::IsFloat(a.type);
    word = b_.SBinaryImm(is_signed ? Opcode::kSshra : Opcode::kSshrl, word,
                         32 - a.bits);
  }
  const Vec words = b_.Splat(word);
  if (const auto small = SmallFloatFormatOf(a.type)) {
    return UnpackSmallFloat(b_, *small, words);
  }
  return a.type == PrimitiveType::kF16 ? WidenF16(b_, words) : words;
}

absl::StatusOr<Value> NestCode::MakeLeaf(const ExprNode& node, int row,
                                         int column) {
  ASSIGN_OR_RETURN(const Vec words, LeafWords(node, row, column));
  return FromMemory(g_.streams[stream_of_node_[&node - e_.nodes.data()]],
                    words);
}

absl::StatusOr<Vec> NestCode::LeafWords(const ExprNode& node, int row,
                                        int column) {
  const int number = stream_of_node_[&node - e_.nodes.data()];
  const Stream& s = g_.streams[number];
  const Place& place = places_[number];
  const PhysicalArray& a = s.array;
  if (hlo::IsFloat(a.type) && a.bits == 8 && !SmallFloatFormatOf(a.type)) {
    return absl::UnimplementedError(
        absl::StrCat(node.instr->name(), ": ", hlo::PrimitiveTypeName(a.type),
                     " operand of a vector kernel"));
  }
  if (place.kind == Place::Kind::kSmem) return MakeScalar(number);
  const Pointer& p = pointers_[stream_pointer_[number]];
  const Sca start = ValueOf(stream_pointer_[number]);
  if (ExpandsInline(s)) return InlineRow(number, row);
  if (place.kind == Place::Kind::kScratch) {
    const int64_t offset = p.offset + row * place.StrideOf(g_.row_axis) +
                           column * place.StrideOf(g_.column_axis);
    return b_.Load(number, start, static_cast<int32_t>(offset));
  }
  if (s.by_parts) {
    return FromFirstLane(s, LoadPart(number, row, column));
  }
  if (s.access == Access::kTile) {
    Vec words = LoadRegister(number, row, column);
    if (a.packing > 1 && !s.tile_by_tile) {
      words =
          Unpack(s, words,
                 s.pack_rows > 1 ? row % s.pack_rows : column % s.pack_columns);
    }
    return words;
  }
  return MakeRow(number, start, column);
}

Vec NestCode::PositionsOf(const ExprNode& node, int row, int column) {
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
  return index;
}

}  // namespace ptxla::lowering
