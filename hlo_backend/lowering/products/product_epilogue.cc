#include "hlo_backend/lowering/products/product_epilogue.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Vec;
using isa::Opcode;

// Stores the sums, rounded to the result's type.
class StoreEpilogue final : public ProductEpilogue {
 public:
  StoreEpilogue(MatrixView view, isa::Window window, int window_number,
                int space)
      : view_(std::move(view)),
        window_(std::move(window)),
        window_number_(window_number),
        space_(space) {}

  absl::Status Start(CodeBuilder& b) override {
    builder_ = &b;
    place_ = PlaceOf(view_, window_, window_number_, space_, &b);
    return absl::OkStatus();
  }

  void Emit(int64_t batch, int64_t row, int64_t col,
            const std::vector<Vec>& tiles) override {
    CodeBuilder& b = *builder_;
    const auto offset = static_cast<int32_t>(place_.Offset(batch, row, col));
    const auto pitch = static_cast<int32_t>(place_.row_pitch);
    if (place_.type == hlo::PrimitiveType::kF32) {
      for (size_t i = 0; i < tiles.size(); ++i) {
        b.Store(place_.space, place_.base,
                offset + static_cast<int32_t>(i) * pitch, tiles[i]);
      }
      return;
    }
    const Vec packed = b.Binary(Opcode::kVpackCBf16, tiles[0], tiles[1]);
    b.StoreStrided(place_.space, place_.base, offset, pitch, 4, packed);
  }

 private:
  MatrixView view_;
  isa::Window window_;
  int window_number_;
  int space_;
  BlockPlace place_;
  CodeBuilder* builder_ = nullptr;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ProductEpilogue>> ProductEpilogue::Create(
    const KernelContext& /*context*/, const hlo::Instruction& instruction,
    const ProductForm& form, const ProductTile& tile, const GridDims& grid,
    int first_space, Tiling* tiling) {
  if (instruction.opcode() != hlo::Opcode::kDot) {
    return absl::UnimplementedError(
        absl::StrCat("%", instruction.name(), ": an epilogue is not lowered"));
  }
  const int result = static_cast<int>(tiling->args.size()) - 1;
  const int window = AddResultWindow(form.out, result, tile, grid,
                                     isa::Direction::kOut, tiling);
  return std::unique_ptr<ProductEpilogue>(std::make_unique<StoreEpilogue>(
      form.out, tiling->windows[window], window, first_space));
}

}  // namespace ptxla::lowering
