#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/analysis/custom_call_cost.h"
#include "hlo_backend/ir/ragged_call.h"
#include "hlo_backend/ir/verifier.h"
#include "hlo_backend/lowering/custom_calls/pallas_call.h"
#include "hlo_backend/lowering/fusion/scalar_fusion.h"
#include "hlo_backend/lowering/kernel_emitter.h"
#include "hlo_backend/lowering/schedule/lowerer.h"

namespace ptxla::lowering {

using hlo::Instruction;

absl::Status Lowerer::CopyStart(const Instruction& i, isa::Schedule* schedule) {
  // (destination, source, context)
  ASSIGN_OR_RETURN(const isa::BufferSlice from, PlaceOf(i.operand(0), 0));
  ASSIGN_OR_RETURN(const isa::BufferSlice to, PlaceOf(&i, 0));
  const int64_t bytes = BytesOf(*i.operand(0));
  started_[&i] = next_id_;
  schedule->push_back({InfoOf(i), isa::CopyStart{next_id_++, from, to, bytes}});
  return absl::OkStatus();
}

namespace {

// Where the tiles of a slice lie in its array, in tiles.
struct Pieces {
  int64_t count = 1, tiles = 1, stride = 0;
};

// Of a slice of whole tiles whose pieces are as far from one another as the
// first two; nullopt: it is none. Lanes and rows begin with a tile; rows end
// with one, or with the array.
std::optional<Pieces> PiecesOf(const hlo::Shape& whole, const hlo::Shape& part,
                               const hlo::SliceAttrs& slice) {
  const hlo::DimVector& order = whole.layout().minor_to_major;
  const auto& tiles = whole.layout().tiles;
  if (order != part.layout().minor_to_major || tiles != part.layout().tiles ||
      tiles.empty() || tiles[0].dimensions.size() != 2 || whole.rank() < 2) {
    return std::nullopt;
  }
  Pieces p;
  int64_t step = 1;    // tiles from one index of a dimension to the next
  bool open = true;    // all more minor dimensions are whole
  bool again = false;  // a more minor one was cut when others had been
  for (int k = 0; k < whole.rank(); ++k) {
    const auto d = static_cast<int>(order[k]);
    const int64_t size = k < 2 ? tiles[0].dimensions[1 - k] : 1;
    const int64_t from = slice.starts[d], to = slice.limits[d];
    const bool ends = to % size == 0 || to == whole.dim(d) || k == 0;
    if (slice.strides[d] != 1 || from % size != 0 || !ends) {
      return std::nullopt;
    }
    const int64_t all = CeilOfRatio(whole.dim(d), size);
    const int64_t taken = CeilOfRatio(part.dim(d), size);
    if (open) {
      p.tiles *= taken;
      open = taken == all;
      p.stride = step * all;
    } else {
      if (again && taken > 1) return std::nullopt;
      p.count *= taken;
      again |= taken != all;
    }
    step *= all;
  }
  return p;
}

}  // namespace

absl::Status Lowerer::AsyncStart(const Instruction& i,
                                 isa::Schedule* schedule) {
  const Instruction& slice = *i.to_apply()->root();
  const auto* attrs = slice.attrs_if<hlo::SliceAttrs>();
  if (attrs == nullptr || i.operand_count() != 1) {
    return absl::UnimplementedError(
        absl::StrCat(hlo::Describe(i), ": an asynchronous ",
                     hlo::OpcodeName(slice.opcode()), " is not lowered"));
  }
  const isa::TiledLayout whole = TiledLayoutOf(i.operand(0)->shape());
  const std::vector<int64_t> first(attrs->starts.begin(), attrs->starts.end());
  std::vector<int64_t> last(attrs->limits.begin(), attrs->limits.end());
  for (int64_t& index : last) --index;
  const isa::TiledLayout part = TiledLayoutOf(slice.shape());
  const int64_t offset = whole.ElementOffset(first);
  const bool is_one =
      whole.ElementOffset(last) - offset + 1 == slice.shape().ElementCount() &&
      part.PaddedElements() == slice.shape().ElementCount();
  const auto pieces = PiecesOf(i.operand(0)->shape(), slice.shape(), *attrs);
  if (!is_one && !pieces) {
    return absl::UnimplementedError(absl::StrCat(
        hlo::Describe(i), ": a slice of pieces of tiles is not lowered"));
  }
  ASSIGN_OR_RETURN(isa::BufferSlice from, PlaceOf(i.operand(0), 0));
  from.offset += offset * whole.bits / 8;
  // ((operand), result, context)
  ASSIGN_OR_RETURN(const isa::BufferSlice to, PlaceOf(&i, 1));
  started_[&i] = next_id_;
  isa::CopyStart copy{next_id_++, from, to, part.ByteSize()};
  if (!is_one && pieces->count > 1) {
    copy.pieces = pieces->count;
    copy.from_stride =
        copy.bytes / (pieces->count * pieces->tiles) * pieces->stride;
  }
  schedule->push_back({InfoOf(i), copy});
  return absl::OkStatus();
}

absl::Status Lowerer::PutTogether(const Instruction& i,
                                  isa::Schedule* schedule) {
  ASSIGN_OR_RETURN(const isa::BufferSlice to, PlaceOf(&i, 0));
  std::vector<const Instruction*> parts(i.operands().begin(),
                                        i.operands().end());
  // The operands of a combine are the low and the high plane; of an f64 the
  // high one lies first.
  if (i.shape().type() == hlo::PrimitiveType::kF64) {
    std::reverse(parts.begin(), parts.end());
  }
  int64_t offset = 0;
  for (const Instruction* part : parts) {
    ASSIGN_OR_RETURN(const isa::BufferSlice from, PlaceOf(part, 0));
    const int64_t bytes = BytesOf(*part);
    const isa::BufferSlice place{to.buffer, to.offset + offset};
    if (!(from == place)) CopyBytes(i, from, place, bytes, schedule);
    offset += bytes;
  }
  return absl::OkStatus();
}

absl::Status Lowerer::WholeCopy(const Instruction& i, isa::Schedule* schedule) {
  ASSIGN_OR_RETURN(const isa::BufferSlice from, PlaceOf(i.operand(0), 0));
  ASSIGN_OR_RETURN(const isa::BufferSlice to, PlaceOf(&i, 0));
  if (from == to) return absl::OkStatus();
  if (CopiesThroughVmem(i) || IsScalarKernel(i)) return Call(i, schedule);
  const int64_t bytes = BytesOf(i);
  CopyBytes(i, from, to, bytes, schedule);
  return absl::OkStatus();
}

void Lowerer::CopyBytes(const Instruction& i, const isa::BufferSlice& from,
                        const isa::BufferSlice& to, int64_t bytes,
                        isa::Schedule* schedule) {
  const int id = next_id_++;
  // What HBM moves: one side of a copy between memories, half of an array whose
  // other half is made in place (X64Combine).
  isa::OpInfo info = InfoOf(i);
  info.bytes = 0;
  for (const isa::BufferSlice* side : {&from, &to}) {
    if (program_.buffers[side->buffer].space == isa::Space::kHbm) {
      info.bytes += bytes;
    }
  }
  schedule->push_back({info, isa::CopyStart{id, from, to, bytes}});
  schedule->push_back({std::move(info), isa::CopyDone{id}});
}

absl::Status Lowerer::HostTransfer(const Instruction& i,
                                   isa::Schedule* schedule) {
  const bool to_host =
      i.opcode() == hlo::Opcode::kOutfeed || i.opcode() == hlo::Opcode::kSend;
  const Instruction& value = to_host ? *i.operand(0) : i;
  std::vector<isa::BufferSlice> places;
  RETURN_IF_ERROR(AppendPlaces(&value, &places));
  size_t k = 0;
  hlo::ForEachLeaf(
      value.shape(), [&](const hlo::Shape& s, const hlo::ShapeIndex&) {
        if (!s.IsArray()) return;
        schedule->push_back(
            {InfoOf(i), isa::HostTransfer{to_host, places[k++],
                                          TiledLayoutOf(s).ByteSize()}});
      });
  return absl::OkStatus();
}

absl::Status Lowerer::HostMove(const Instruction& i, bool to_host,
                               isa::Schedule* schedule) {
  ASSIGN_OR_RETURN(const isa::BufferSlice from, PlaceOf(i.operand(0), 0));
  ASSIGN_OR_RETURN(const isa::BufferSlice to, PlaceOf(&i, 0));
  const int64_t bytes = BytesOf(i);
  schedule->push_back({InfoOf(i), isa::HostTransfer{to_host, from, bytes}});
  if (!(from == to)) CopyBytes(i, from, to, bytes, schedule);
  return absl::OkStatus();
}

absl::Status Lowerer::CustomCall(const Instruction& i,
                                 isa::Schedule* schedule) {
  const std::string& target = i.attrs<hlo::CustomCallAttrs>().target;
  if (target == "X64SplitLow" || target == "X64SplitHigh") {
    return absl::OkStatus();
  }
  // A result of dynamic size as the TPU compiler's schedules have it.
  if (target == "SliceToDynamic") return WholeCopy(i, schedule);
  if (hlo::RaggedCall::Of(i)) return Call(i, schedule);
  if (target == "ConcatBitcast" || target == "X64Combine") {
    return PutTogether(i, schedule);
  }
  if (target == kPallasTarget || hlo::IsForeignAttention(i)) {
    return Call(i, schedule);
  }
  if (target == "AllocateBuffer") return absl::OkStatus();
  if (hlo::MovesToHost(i) || target == "MoveToDevice") {
    return HostMove(i, hlo::MovesToHost(i), schedule);
  }
  return Call(i, schedule);  // EmitKernel refuses those that it does not know
}

}  // namespace ptxla::lowering
