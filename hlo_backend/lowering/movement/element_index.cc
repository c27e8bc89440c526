#include "hlo_backend/lowering/movement/element_index.h"

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/analysis/bounded_rows.h"
#include "hlo_backend/analysis/element_gather.h"
#include "hlo_backend/lowering/codegen/spaces.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Sca;
using isa::Opcode;

constexpr int64_t kGranule = 32;  // bytes of a DMA to SMEM

int32_t Log2(int64_t power) {
  return absl::countr_zero(static_cast<uint64_t>(power));
}

}  // namespace

absl::StatusOr<ElementIndex> ElementIndex::Of(const hlo::Instruction& gather) {
  if (!hlo::GathersElements(gather)) {
    return absl::UnimplementedError(absl::StrCat(
        "%", gather.name(), ": a gather of other than rows or elements"));
  }
  ElementIndex e;
  const hlo::Instruction& indices = *gather.operand(1);
  ASSIGN_OR_RETURN(e.table_, PhysicalArray::Of(gather.operand(0)->shape()));
  if (e.table_.rank() == 1) {
    ASSIGN_OR_RETURN(e.linear_, RowIndex::OfGather(gather));
    return e;
  }
  ASSIGN_OR_RETURN(const PhysicalArray rows,
                   PhysicalArray::Of(indices.shape()));
  if (rows.dims != hlo::DimVector{0, 1}) {
    return absl::UnimplementedError(absl::StrCat(
        "%", gather.name(), ": indices of an element lie side by side"));
  }
  e.index_rows_ = rows.tile_rows;
  e.count_ = indices.shape().dim(1);
  e.marked_ = hlo::IsMarkedBounded(gather);
  return e;
}

int64_t ElementIndex::SlotBytes(int64_t elements) const {
  if (linear_.has_value()) return linear_->SlotBytes(elements);
  return elements / isa::kLanes * index_rows_ * isa::kRowBytes;
}

void ElementIndex::SetSteps(int64_t elements, int64_t steps) {
  if (linear_.has_value()) linear_->SetSteps(elements, steps);
  inside_ = marked_ && elements * steps == count_;
}

int ElementIndex::AddWindow(int arg, int64_t elements, int64_t steps,
                            Tiling* tiling) const {
  if (linear_.has_value()) {
    return linear_->AddWindow(arg, elements, steps, tiling);
  }
  // Tiles of the indices, whole.
  const int64_t bytes = SlotBytes(elements);
  isa::Window w;
  w.arg = arg;
  w.space = isa::Space::kSmem;
  isa::WindowDim dim;
  dim.block = bytes / kGranule;
  dim.extent = tiling->args[arg].bytes / kGranule;
  dim.hbm_stride = dim.vmem_stride = kGranule;
  dim.grid_dim = steps > 1 ? 0 : -1;
  w.inner_bytes = kGranule;
  w.slot_bytes = bytes;
  w.dims = {dim};
  w.slots = steps > 1 ? 2 : 1;
  tiling->windows.push_back(std::move(w));
  return static_cast<int>(tiling->windows.size()) - 1;
}

Sca ElementIndex::At(CodeBuilder& b, Sca window, Sca n) const {
  if (linear_.has_value()) return linear_->AddressOf(b, window, n);
  const Sca tile = b.SBinaryImm(Opcode::kSshrl, n, 7);
  const Sca lane = b.SBinaryImm(Opcode::kSand, n, isa::kLanes - 1);
  return b.SAdd(window,
                b.SAdd(b.SMulImm(tile, static_cast<int32_t>(index_rows_ *
                                                            isa::kRowBytes)),
                       b.SBinaryImm(Opcode::kSshll, lane, 2)));
}

Sca ElementIndex::Coordinate(CodeBuilder& b, Sca at, int k, int beyond) const {
  const Sca raw = b.SLoad(
      codegen::kRowIndexSpace, at,
      static_cast<int32_t>(table_.dims[k] * isa::kRowBytes) + 4 * beyond);
  if (inside_) return raw;
  return b.SBinaryImm(Opcode::kSmin, b.SBinaryImm(Opcode::kSmax, raw, 0),
                      static_cast<int32_t>(table_.sizes[k] - 1));
}

ElementIndex::Element ElementIndex::Load(CodeBuilder& b, Sca at,
                                         int beyond) const {
  Element e;
  if (linear_.has_value()) {
    e.column = linear_->ClampedAt(b, at, beyond, table_.linear);
    e.row = b.SBinaryImm(Opcode::kSshrl, e.column, Log2(isa::kLanes));
    return e;
  }
  const int rank = table_.rank();
  if (rank == 3) e.plane = Coordinate(b, at, 0, beyond);
  e.row = Coordinate(b, at, rank - 2, beyond);
  e.column = Coordinate(b, at, rank - 1, beyond);
  return e;
}

Sca ElementIndex::Row(CodeBuilder& b, const Element& e) const {
  const int unit = table_.place_shift();
  const auto in_units = [&](Sca value, int64_t bytes) {
    const int shift = Log2(bytes) - unit;
    return shift == 0 ? value : b.SBinaryImm(Opcode::kSshll, value, shift);
  };
  const auto word_row = [&](Sca row) {
    if (table_.packing > 1) {
      row = b.SBinaryImm(Opcode::kSshrl, row, table_.packing_log2());
    }
    return in_units(row, isa::kRowBytes);
  };
  if (linear_.has_value()) return word_row(e.row);
  Sca offset;
  const auto add = [&](Sca bytes) {
    offset = offset.valid() ? b.SAdd(offset, bytes) : bytes;
  };
  if (table_.tiles_down == 1) {
    add(word_row(e.row));
  } else {
    add(word_row(b.SBinaryImm(Opcode::kSand, e.row,
                              static_cast<int32_t>(table_.tile_rows - 1))));
    add(b.SMulImm(b.SBinaryImm(Opcode::kSshrl, e.row, Log2(table_.tile_rows)),
                  static_cast<int32_t>(table_.row_stride() >> unit)));
  }
  if (table_.tiles_across > 1) {
    add(in_units(b.SBinaryImm(Opcode::kSshrl, e.column, Log2(isa::kLanes)),
                 table_.tile_bytes()));
  }
  if (e.plane.valid()) {
    offset = b.SAdd(
        offset, b.SMulImm(e.plane,
                          static_cast<int32_t>(table_.plane_stride() >> unit)));
  }
  return offset;
}

Sca ElementIndex::Lane(CodeBuilder& b, const Element& e) const {
  return b.SBinaryImm(Opcode::kSand, e.column, isa::kLanes - 1);
}

Sca ElementIndex::Part(CodeBuilder& b, const Element& e) const {
  return b.SBinaryImm(Opcode::kSand, e.row, table_.packing - 1);
}

}  // namespace ptxla::lowering
