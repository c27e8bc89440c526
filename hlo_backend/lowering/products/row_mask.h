// An operand of a grouped product with only some of its rows: those of one
// group. Other rows become zero, whatever they hold: of weights, and of rows
// that are transposed, on their way to the MXUs and XLUs.
//
//   MaskedRows masked(from, low, high, RowMaskSource::kLanes);
//   masked.Start(table, &b);            // once per step
//   parts.rhs.computed = &masked;
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_ROW_MASK_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_ROW_MASK_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "base/check.h"
#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/products/computed_operand.h"
#include "hlo_backend/lowering/products/product_stream.h"

namespace ptxla::lowering {

// Where the masks of rows come from.
enum class RowMaskSource {
  // Row numbers along the sublanes, compared with the bounds: a TPU's
  // hand-written grouped kernel.
  kSublanes,
  // A mask of all rows lies along the lanes, as a fused select has it, and each
  // row's bit is broadcast over its sublane: an XLU operation per row.
  kLanes,
};

class MaskedRows final : public ComputedOperand {
 public:
  // Rows [low, high) of the block stay, counted inside of it; bf16 and f32.
  MaskedRows(const BlockPlace& from, codegen::Sca low, codegen::Sca high,
             RowMaskSource source)
      : from_(from), low_at_(low), high_at_(high), source_(source) {}

  // Bytes of scratch for the masks of a block of so many rows.
  static int64_t TableBytes(int64_t rows) { return rows / 8 * isa::kVregBytes; }
  // Makes what all masks need, as globals. `table`: space, address in scratch.
  void Start(int space, int64_t table, codegen::CodeBuilder* b);

  std::vector<codegen::Vec> Tiles(int64_t batch, int64_t row,
                                  int64_t lane) override;
  int64_t RowsKey(int64_t batch, int64_t row) const override;
  bool MakeRows(int64_t batch, int64_t row) override;
  // Its rows are walked by none.
  void BeginRows(codegen::Sca, int64_t) override { CHECK(false); }
  void EndRows() override {}
  void Forget() override { made_.clear(); }
  int live_registers() const override { return 4; }
  int64_t rows_lead() const override { return rows_lead_; }
  int64_t lead() const override { return kLead; }

 private:
  // Load, conversion and mask.
  static constexpr int64_t kLead = 10;

  int32_t TableOffset(int64_t row) const {
    return static_cast<int32_t>(row / 8 * isa::kVregBytes);
  }
  const BlockPlace from_;
  const codegen::Sca low_at_, high_at_;
  const RowMaskSource source_;
  codegen::CodeBuilder* b_ = nullptr;
  int space_ = 0;
  codegen::Sca table_;
  codegen::Vec low_, count_, numbers_;
  int64_t rows_lead_ = 0;
  absl::flat_hash_set<int64_t> made_;  // rows
};

// Copies a block to scratch, masked from lanes: what the TPU does with the
// operand whose rows it streams, before the stream. `rows` is a multiple of
// 128.
void EmitRowMask(const BlockPlace& from, const BlockPlace& to, int64_t rows,
                 int64_t columns, codegen::Sca low, codegen::Sca high,
                 codegen::CodeBuilder* b);

// Sublane numbers, on all lanes.
codegen::Vec SublaneNumbers(codegen::CodeBuilder* b);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_ROW_MASK_H_
