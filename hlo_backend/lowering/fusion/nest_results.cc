// NestCode: how results are packed and stored.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/fusion/f16_conversion.h"
#include "hlo_backend/lowering/fusion/nest.h"
#include "hlo_backend/lowering/fusion/number_conversion.h"
#include "hlo_backend/lowering/fusion/small_float_conversion.h"
#include "hlo_backend/lowering/narrow_type.h"

namespace ptxla::lowering {

using codegen::Mask;
using codegen::Sca;
using codegen::Vec;
using hlo::PrimitiveType;
using isa::Opcode;

void NestCode::PrepareNarrowTiles() {
  int uses = 0;
  for (const Stream& s : g_.streams) {
    if (!s.tile_by_tile && !s.by_parts) continue;
    uses |= s.node >= 0 ? codegen::NarrowTiles::LoadOf(s.array.bits)
                        : codegen::NarrowTiles::StoreOf(s.array.bits);
  }
  narrow_.emplace(&b_, uses);
}

// One for all tiles of a body: a chip has few registers of masks.
Mask NestCode::Sublanes(int number) {
  Mask& mask = sublanes_[number];
  if (!mask.valid()) mask = b_.Range(0, isa::kLanes, 0, number);
  return mask;
}

Vec NestCode::AsWords(int node, Value v) {
  (void)node;
  return v.is_mask() ? MaskToNumber(b_, v.mask, false) : v.vec;
}

// A register of the stream from its base tiles.
Vec NestCode::Pack(const Stream& s, absl::Span<const Vec> parts) {
  const PrimitiveType type = s.array.type;
  if (parts.size() == 1) return parts[0];
  if (parts.size() == 2) {
    if (type == PrimitiveType::kF16) return PackF16(b_, parts[0], parts[1]);
    const Opcode op =
        type == PrimitiveType::kBf16 ? Opcode::kVpackCBf16 : Opcode::kVpackCB16;
    return b_.Binary(op, parts[0], parts[1]);
  }
  return b_.Binary(Opcode::kVpackCB8,
                   b_.Binary(Opcode::kVpackCB16, parts[0], parts[1]),
                   b_.Binary(Opcode::kVpackCB16, parts[2], parts[3]));
}

Vec NestCode::PackToBytes(const Stream& s, Vec words) {
  const ExprNode& root = e_.nodes[e_.roots[s.root]];
  return PackTileToBytes(
      b_, root.kind == ExprNode::Kind::kOp ? root.instr : nullptr, words);
}

// The tiles of a register of bytes one by one, its first `sublanes` sublanes.
absl::Status NestCode::StoreParts(const Stream& s, Sca base, int64_t offset,
                                  absl::Span<const Vec> parts, int sublanes) {
  const int rows = isa::kSublanes / s.array.packing;
  const int number = static_cast<int>(&s - g_.streams.data());
  for (int k = 0; k < s.array.packing && k * rows < sublanes; ++k) {
    const int64_t at = offset + k * rows * isa::kRowBytes;
    const int left = std::min(rows, sublanes - k * rows);
    if (!g_.Packs(s.array.bits) || left < rows) {
      RETURN_IF_ERROR(StoreTile(s, base, at, parts[k], left));
      continue;
    }
    // Every two sublanes hold the tile: all may be written to the same place.
    b_.StoreStrided(number, base, static_cast<int32_t>(at), 0, rows,
                    PackToBytes(s, parts[k]));
  }
  return absl::OkStatus();
}

// Writes the first `rows` rows of memory of one tile.
absl::Status NestCode::StoreTile(const Stream& s, Sca base, int64_t offset,
                                 Vec words, int rows) {
  const int number = static_cast<int>(&s - g_.streams.data());
  const int32_t at = static_cast<int32_t>(offset);
  const PrimitiveType type = s.array.type;
  if (g_.Packs(s.array.bits)) {
    const std::vector<Vec> parts(s.array.packing, words);
    // Nothing beyond its rows is written.
    b_.StoreStridedMasked(number, base, at, 0, rows, Pack(s, parts),
                          Sublanes(rows));
    return absl::OkStatus();
  }
  if (s.array.bits == 4 && isa::Supports(b_.model(), Opcode::kVpackCB4)) {
    const Vec bytes = PackToBytes(s, words);
    // The first sublane has all of them.
    b_.StoreStridedMasked(number, base, at, isa::kRowBytes, 1,
                          b_.Binary(Opcode::kVpackCB4, bytes, bytes),
                          Sublanes(1));
    return absl::OkStatus();
  }
  if (type == PrimitiveType::kF16) words = NarrowToUpperF16(b_, words);
  narrow_->Store(NarrowTypeOf(type), number, base, at, words, rows);
  return absl::OkStatus();
}

absl::Status NestCode::StoreResults(const Region& region) {
  return StoreRows(region, 0, region.rows);
}

absl::Status NestCode::StoreRows(const Region& region, int first, int end) {
  int unit_rows = 1, unit_columns = 1;
  for (const Stream& s : g_.streams) {
    if (s.result < 0) continue;
    unit_rows = std::max(unit_rows, s.pack_rows);
    unit_columns = std::max(unit_columns, s.pack_columns);
  }
  const auto store = [&](int r, int c) -> absl::Status {
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
    return absl::OkStatus();
  };
  // Of a linear axis: down the columns of tiles of the array.
  const int down =
      unit_columns *
      std::max<int>(1, static_cast<int>(g_.packed_bf16 ? 1 : g_.row_of_tiles) /
                           unit_columns);
  for (int r = first; r < end; r += unit_rows) {
    for (int c = 0; c < std::min(down, region.columns); c += unit_columns) {
      for (int x = c; x < region.columns; x += down) {
        RETURN_IF_ERROR(store(r, x));
      }
    }
  }
  return absl::OkStatus();
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
      valid = k + 1;
      if (g_.packed_bf16) continue;
      if (HasMaskWords(node)) {
        ASSIGN_OR_RETURN(const Vec v, MaskWords(node, r, c));
        words.push_back(v);
        continue;
      }
      ASSIGN_OR_RETURN(Value v, Eval(node, r, c));
      words.push_back(AsWords(node, v));
    } else if (!g_.packed_bf16) {
      words.push_back(words.back());  // padding
    }
  }
  const Pointer& p = pointers_[stream_pointer_[number]];
  const int64_t offset =
      p.offset + (g_.row_axis < 0 ? 0 : row * place.strides[g_.row_axis]) +
      column * place.strides[g_.column_axis];
  const Sca start = ValueOf(stream_pointer_[number]);
  const PrimitiveType type = s.array.type;
  if (const auto format = SmallFloatFormatOf(type)) {
    for (Vec& v : words) v = NarrowToSmallFloat(b_, *format, v);
  } else if (hlo::BitWidth(type) == 8 && hlo::IsFloat(type)) {
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
  if (s.by_parts) {
    const int each = isa::kSublanes / s.array.packing;
    int sublanes = parts * each;
    if (place.resident) {
      sublanes = valid * each;
      const int64_t rest = s.array.bytes() % isa::kVregBytes;
      if (g_.linear && region.column_end && rest != 0 &&
          column + s.pack_columns >= region.columns) {
        sublanes = std::min(sublanes, static_cast<int>(rest / isa::kRowBytes));
      }
    }
    return StoreParts(s, start, offset, words, sublanes);
  }
  Vec packed;
  if (g_.packed_bf16) {
    ASSIGN_OR_RETURN(packed, EvalPacked(node, row, column));
  } else {
    packed = Pack(s, words);
  }
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
    b_.StoreMasked(number, start, static_cast<int32_t>(offset), packed,
                   Sublanes(sublanes));
  } else {
    b_.Store(number, start, static_cast<int32_t>(offset), packed);
  }
  return absl::OkStatus();
}

}  // namespace ptxla::lowering
