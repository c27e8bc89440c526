#include "hlo_backend/lowering/products/fusion_epilogue.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/analysis/product_batch.h"
#include "hlo_backend/analysis/turned_input.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/lowering/fusion/f16_conversion.h"
#include "hlo_backend/lowering/fusion/number_conversion.h"
#include "hlo_backend/lowering/narrow_type.h"
#include "hlo_backend/lowering/products/epilogue_types.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Sca;
using codegen::Vec;
using hlo::PrimitiveType;
using isa::Opcode;

absl::StatusOr<std::unique_ptr<FusionEpilogue>> FusionEpilogue::Create(
    const hlo::Instruction& fusion) {
  ASSIGN_OR_RETURN(Expression e, Expression::Build(fusion));
  auto epilogue =
      std::unique_ptr<FusionEpilogue>(new FusionEpilogue(std::move(e)));
  RETURN_IF_ERROR(epilogue->Describe(fusion));
  return epilogue;
}

absl::Status FusionEpilogue::Describe(const hlo::Instruction& fusion) {
  bool folded = false, windowed = false;
  const auto look_at = [&](const hlo::Instruction& i) {
    if (i.opcode() == hlo::Opcode::kConvolution) {
      windowed = true;
      folded = !hlo::HasFeaturesInRows(i);
    }
    if (i.opcode() != hlo::Opcode::kDot) return;
    folded = e_.space.rank() != hlo::ProductBatch(i) + 2;
  };
  look_at(fusion);
  if (fusion.opcode() == hlo::Opcode::kFusion) {
    for (const hlo::Instruction* i : fusion.fused()->instructions()) {
      look_at(*i);
    }
  }
  RETURN_IF_ERROR(DescribeLeaves(folded, windowed));
  for (const Leaf& leaf : leaves_) {
    if (windowed_ && leaf.form == Form::kTile && IsByte(leaf.view.type)) {
      return RefuseInEpilogue(*e_.nodes[leaf.node].instr, "a narrow operand");
    }
  }
  outputs_ = fusion.shape().IsTuple()
                 ? static_cast<int>(fusion.shape().elements().size())
                 : 1;
  for (size_t k = 0; k < e_.roots.size(); ++k) {
    const int node = e_.roots[k];
    if (e_.reduces[k] != nullptr) continue;
    const hlo::Instruction& root = *e_.nodes[node].instr;
    const hlo::Shape& shape = fusion.shape().IsTuple()
                                  ? fusion.shape().elements()[e_.results[k]]
                                  : fusion.shape();
    if (!IsStoredType(shape.type()) ||
        (windowed_ && hlo::BitWidth(shape.type()) <= 8)) {
      return RefuseInEpilogue(root, "a narrow result");
    }
    Result result;
    result.node = node;
    result.leaf = e_.results[k];
    ASSIGN_OR_RETURN(result.view, MatrixView::Of(shape));
    if (member_rows_ > 0 && !result.view.FoldPlanes()) {
      return RefuseInEpilogue(root, "a result with padding between its rows");
    }
    results_.push_back(std::move(result));
  }
  return absl::OkStatus();
}

void FusionEpilogue::AddTo(ProductProblem* problem,
                           const isa::MachineModel& model) {
  problem->out_bytes_per_element = 0;
  problem->narrow_results = 0;
  for (const Result& r : results_) {
    // What stays in VMEM is no traffic and takes no slots.
    if (r.view.resident) continue;
    problem->out_bytes_per_element += BytesOf(r.view.type);
    problem->narrow_results += BytesOf(r.view.type) < 4;
  }
  problem->shared_tiles = TilesOfSharedLeaves();
  problem->epilogue_bytes_per_element += LeafBytesPerElement();
  for (const SharedTiles& shared : problem->shared_tiles) {
    problem->epilogue_bytes_per_element -= shared.bytes_per_element;
  }
  problem->epilogue_whole_bytes += WholeLeafBytes();
  problem->row_results += RowEntries();
  AddShared(problem);
  if (RowEntries() > 0) {
    problem->row_unit_of_steps =
        std::max<int64_t>(problem->row_unit_of_steps, isa::kLanes);
  }
  const auto is_byte = [](const Result& x) {
    return BytesOf(x.view.type) == 1;
  };
  if (HasByteLeaf() || std::any_of(results_.begin(), results_.end(), is_byte)) {
    problem->row_unit = 32;
  }
  problem->column_unit = std::max(problem->column_unit, ColumnUnit());
  // Vector operations of the formula on one register: written and counted.
  const std::vector<codegen::VInstr> code = CodeOf(model, NodesOfTiles());
  problem->epilogue_ops += VectorOperations(code) + LeafOperations(model);
  problem->epilogue_functions += FunctionOperations(code);
  for (const Result& r : results_) {
    if (r.view.type == PrimitiveType::kF16) {
      problem->epilogue_ops += PackF16Operations(model);
    } else if (IsByteFloat(r.view.type)) {
      problem->epilogue_ops +=
          NarrowToSmallFloatOperations(model, *SmallFloatFormatOf(r.view.type));
    }
  }
  // Two tiles go through the formula together, and their results are packed.
  live_registers_ = 2 * PeakVectors(code) + 2;
  const bool rounds =
      std::any_of(results_.begin(), results_.end(), [&](const Result& r) {
        return IsByteFloat(r.view.type) &&
               NarrowToSmallFloatOperations(
                   model, *SmallFloatFormatOf(r.view.type)) > 1;
      });
  // Number, magnitude, sign and two candidates of each tile.
  if (rounds) live_registers_ = std::max(live_registers_, 12);
}

void FusionEpilogue::AddWindows(const ProductTile& tile, const GridDims& grid,
                                int first_space, Tiling* tiling) {
  AddLeafWindows(tile, grid, first_space, tiling);
  const int first_result = static_cast<int>(tiling->args.size()) - outputs_;
  for (Result& r : results_) {
    r.window = AddResultWindow(r.view, first_result + r.leaf, tile, grid,
                               isa::Direction::kOut, tiling);
  }
  windows_ = tiling->windows;
}

absl::Status FusionEpilogue::Start(CodeBuilder& b) {
  status_ = absl::OkStatus();
  int uses = 0;
  for (Result& r : results_) {
    uses |= codegen::NarrowTiles::StoreOf(8 * BytesOf(r.view.type));
  }
  RETURN_IF_ERROR(StartLeaves(b, uses));
  RETURN_IF_ERROR(FillRows(b));
  b.NewBlock("addresses");
  for (Result& r : results_) {
    r.store = ResultStore::Of(r.view, windows_[r.window], r.window, grid_,
                              SpaceOf(r.window), &b);
  }
  return absl::OkStatus();
}

absl::Status FusionEpilogue::Store(const Result& result, const Position& at) {
  CodeBuilder& b = *b_;
  const BlockPlace& place = result.store.place();
  const auto offset =
      static_cast<int32_t>(place.Offset(at.batch, at.row, at.col));
  const auto pitch = static_cast<int32_t>(place.row_pitch);
  std::vector<Vec> words;
  for (size_t tile = 0; tile < at.sums->size(); ++tile) {
    ASSIGN_OR_RETURN(Value v, Eval(result.node, static_cast<int>(tile), at));
    words.push_back(v.is_mask() ? MaskToNumber(b, v.mask, false) : v.vec);
  }
  if (IsByteFloat(result.view.type)) {
    const auto format = SmallFloatFormatOf(result.view.type);
    for (Vec& v : words) v = NarrowToSmallFloat(b, *format, v);
  }
  if (BytesOf(result.view.type) < 4 &&
      codegen::NarrowTiles::Needed(b.model(), 8 * BytesOf(result.view.type))) {
    const auto apart =
        result.view.tile_rows > 8
            ? static_cast<int32_t>(8 * BytesOf(result.view.type) * isa::kLanes)
            : pitch;
    for (size_t tile = 0; tile < words.size(); ++tile) {
      if (result.store.IsBeyondBlock(at.row + 8 * static_cast<int64_t>(tile)) ||
          (tile > 0 && RowsOf(result.view) <= 8)) {
        break;
      }
      b.SetStoreGuard(
          result.store.GuardOf(at.batch, at.row + 8 * tile, at.col));
      const Vec x = result.view.type == PrimitiveType::kF16
                        ? NarrowToUpperF16(b, words[tile])
                        : words[tile];
      narrow_->Store(NarrowTypeOf(result.view.type), place.space, place.base,
                     offset + static_cast<int32_t>(tile) * apart, x,
                     result.store.narrow_rows());
    }
    b.SetStoreGuard({});
    return absl::OkStatus();
  }
  if (BytesOf(result.view.type) == 1 && result.view.tile_rows == 8) {
    for (size_t tile = 0; tile < words.size(); ++tile) {
      const ExprNode& node = e_.nodes[result.node];
      const hlo::Instruction* value =
          node.kind == ExprNode::Kind::kOp ? node.instr : nullptr;
      if (result.store.IsBeyondBlock(at.row + 8 * static_cast<int64_t>(tile))) {
        break;
      }
      b.SetStoreGuard(
          result.store.GuardOf(at.batch, at.row + 8 * tile, at.col));
      b.StoreMasked(
          place.space, place.base, offset + static_cast<int32_t>(tile) * pitch,
          PackTileToBytes(b, value, words[tile]), b.Range(0, 128, 0, 2));
    }
    b.SetStoreGuard({});
    return absl::OkStatus();
  }
  if (BytesOf(result.view.type) == 1) {
    const Vec half = b.Binary(Opcode::kVpackCB16, words[0], words[1]);
    result.store.Bytes(&b, at.batch, at.row, at.col,
                       b.Binary(Opcode::kVpackCB8, half, half));
    return absl::OkStatus();
  }
  if (BytesOf(result.view.type) == 2) {
    result.store.Packed(
        &b, at.batch, at.row, at.col,
        result.view.type == PrimitiveType::kF16
            ? PackF16(b, words[0], words[1])
            : b.Binary(Opcode::kVpackCBf16, words[0], words[1]));
    return absl::OkStatus();
  }
  result.store.Words(&b, at.batch, at.row, at.col, words);
  return absl::OkStatus();
}

void FusionEpilogue::Emit(int64_t batch, int64_t row, int64_t col,
                          const std::vector<Vec>& tiles) {
  ClearTiles();
  ClearRows();
  const Position at{batch, row, col, &tiles};
  for (const Result& result : results_) {
    const absl::Status stored = Store(result, at);
    if (status_.ok()) status_ = stored;
  }
}

}  // namespace ptxla::lowering
