// The order in which an epilogue's instructions issue where they issue one
// after another: that of a schedule of the epilogue alone, within a share of
// the registers. Chains that do not read each other (two tiles, polynomials of
// one argument) take turns in it, where a formula is written one after another.
//
//   BlockOrder order(builder, /*vectors=*/19);
//   order.Apply(&block);
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_BLOCK_ORDER_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_BLOCK_ORDER_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/codegen/vcode.h"

namespace ptxla::lowering::stream {

class BlockOrder {
 public:
  // `vectors`: registers that a block may hold, those that it reads and others
  // wrote among them.
  BlockOrder(const codegen::CodeBuilder& b, int vectors)
      : b_(b), vectors_(vectors) {}

  // The block as it was where no order keeps within the registers.
  void Apply(codegen::VNode* block);

 private:
  using Shape = std::vector<int32_t>;
  Shape ShapeOf(const codegen::VNode& block) const;
  std::vector<int32_t> Schedule(const codegen::VNode& block) const;

  const codegen::CodeBuilder& b_;
  const int vectors_;
  // Epilogues of one formula differ in registers and addresses only.
  absl::flat_hash_map<Shape, std::vector<int32_t>> known_;
};

}  // namespace ptxla::lowering::stream

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_BLOCK_ORDER_H_
