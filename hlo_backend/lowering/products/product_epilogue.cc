#include "hlo_backend/lowering/products/product_epilogue.h"

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/lowering/codegen/narrow_tiles.h"
#include "hlo_backend/lowering/fusion/f16_conversion.h"
#include "hlo_backend/lowering/products/column_epilogue.h"
#include "hlo_backend/lowering/products/epilogue_types.h"
#include "hlo_backend/lowering/products/fusion_epilogue.h"
#include "hlo_backend/lowering/products/member_column_epilogue.h"
#include "hlo_backend/lowering/products/result_store.h"
#include "hlo_backend/lowering/products/row_epilogue.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Vec;
using isa::Opcode;

// Stores the sums, rounded to the result's type.
class StoreEpilogue final : public ProductEpilogue {
 public:
  explicit StoreEpilogue(MatrixView view) : view_(std::move(view)) {}

  void AddWindows(const ProductTile& tile, const GridDims& grid,
                  int first_space, Tiling* tiling) override {
    space_ = first_space;
    window_number_ =
        AddResultWindow(view_, static_cast<int>(tiling->args.size()) - 1, tile,
                        grid, isa::Direction::kOut, tiling);
    window_ = tiling->windows[window_number_];
    grid_ = grid.bounds;
  }

  absl::Status Start(CodeBuilder& b) override {
    builder_ = &b;
    store_ = ResultStore::Of(view_, window_, window_number_, grid_, space_, &b);
    narrow_.emplace(&b,
                    codegen::NarrowTiles::StoreOf(hlo::BitWidth(view_.type)));
    return absl::OkStatus();
  }

  void Emit(int64_t batch, int64_t row, int64_t col,
            const std::vector<Vec>& tiles) override {
    CodeBuilder& b = *builder_;
    if (hlo::BitWidth(view_.type) == 32) {
      store_.Words(&b, batch, row, col, tiles);
      return;
    }
    if (codegen::NarrowTiles::Needed(b.model())) {
      const BlockPlace& place = store_.place();
      for (size_t i = 0; i < tiles.size(); ++i) {
        const int64_t at = row + 8 * static_cast<int64_t>(i);
        if (store_.IsBeyondBlock(at)) break;
        b.SetStoreGuard(store_.GuardOf(batch, at, col));
        narrow_->Store(codegen::NarrowType::kBf16, place.space, place.base,
                       static_cast<int32_t>(place.Offset(batch, at, col)),
                       view_.type == hlo::PrimitiveType::kF16
                           ? NarrowToUpperF16(b, tiles[i])
                           : tiles[i],
                       store_.narrow_rows());
      }
      b.SetStoreGuard({});
      return;
    }
    store_.Packed(&b, batch, row, col,
                  view_.type == hlo::PrimitiveType::kF16
                      ? PackF16(b, tiles[0], tiles[1])
                      : b.Binary(Opcode::kVpackCBf16, tiles[0], tiles[1]));
  }

  // Both tiles of a conversion to f16 by vector operations.
  int live_registers() const override {
    return view_.type == hlo::PrimitiveType::kF16 &&
                   PackF16Operations(builder_->model()) > 1
               ? 9
               : ProductEpilogue::live_registers();
  }

 private:
  MatrixView view_;
  isa::Window window_;
  int window_number_ = 0;
  int space_ = 0;
  std::vector<int64_t> grid_;
  ResultStore store_;
  std::optional<codegen::NarrowTiles> narrow_;
  CodeBuilder* builder_ = nullptr;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ProductEpilogue>> ProductEpilogue::Create(
    const KernelContext& context, const hlo::Instruction& instruction,
    ProductForm* form) {
  if (instruction.opcode() == hlo::Opcode::kFusion) {
    bool reduces = false;
    for (const hlo::Instruction* inner : instruction.fused()->instructions()) {
      reduces |= inner->opcode() == hlo::Opcode::kReduce;
    }
    std::unique_ptr<FusionEpilogue> epilogue;
    if (reduces) {
      if (ColumnEpilogue::Takes(instruction)) {
        ASSIGN_OR_RETURN(epilogue, ColumnEpilogue::Create(instruction, *form));
      } else if (MemberColumnEpilogue::Takes(instruction)) {
        ASSIGN_OR_RETURN(epilogue,
                         MemberColumnEpilogue::Create(instruction, *form));
      } else {
        ASSIGN_OR_RETURN(epilogue, RowEpilogue::Create(context, instruction));
      }
    } else {
      ASSIGN_OR_RETURN(epilogue, FusionEpilogue::Create(instruction));
    }
    epilogue->AddTo(&form->problem, context.model);
    return std::unique_ptr<ProductEpilogue>(std::move(epilogue));
  }
  if (IsByteFloat(form->out.type)) {
    ASSIGN_OR_RETURN(std::unique_ptr<FusionEpilogue> epilogue,
                     FusionEpilogue::Create(instruction));
    epilogue->AddTo(&form->problem, context.model);
    return std::unique_ptr<ProductEpilogue>(std::move(epilogue));
  }
  if (hlo::IsInteger(form->out.type) && hlo::BitWidth(form->out.type) < 32) {
    return absl::UnimplementedError(absl::StrCat(
        instruction.name(), ": sums of integers are of 32 bits, not ",
        hlo::PrimitiveTypeName(form->out.type)));
  }
  form->problem.out_bytes_per_element =
      form->out.resident ? 0 : hlo::BitWidth(form->out.type) / 8;
  form->problem.narrow_results =
      !form->out.resident && hlo::BitWidth(form->out.type) < 32;
  if (form->out.type == hlo::PrimitiveType::kF16) {
    form->problem.epilogue_ops = PackF16Operations(context.model);
  }
  return std::unique_ptr<ProductEpilogue>(
      std::make_unique<StoreEpilogue>(form->out));
}

}  // namespace ptxla::lowering
