// The code of a product's stream as it grows: what a builder's open block
// holds, placed by the stream's scheduler.
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_STREAM_CODE_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_STREAM_CODE_H_

#include <cstdint>

#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/products/block_order.h"
#include "hlo_backend/lowering/products/stream_scheduler.h"
#include "isa/instruction.h"

namespace ptxla::lowering::stream {

// Keys of the scheduler for memory that is written and read: sums are their
// offsets in registers; converted rows, tiles of a turned LHS, and values per
// row of either operand, lie far beyond.
constexpr int64_t kConvertedKeys = int64_t{1} << 40;
constexpr int64_t kTurnedKeys = int64_t{3} << 39;
constexpr int64_t kRowKeys = int64_t{1} << 41;
// And what an epilogue adds to (KeepOrder).
constexpr int64_t kOrderedKeys = int64_t{1} << 42;

class Code {
 public:
  // `vectors`: registers that a block placed in order may hold.
  Code(codegen::CodeBuilder* b, int vectors)
      : b_(*b), scheduler_(*b), order_(*b, vectors) {}

  codegen::CodeBuilder& builder() { return b_; }
  codegen::StreamScheduler& scheduler() { return scheduler_; }
  const codegen::StreamScheduler& scheduler() const { return scheduler_; }

  // Loads and stores of this codegen space touch the same bytes where their
  // offsets are equal, whatever block they are in.
  void KeepOrder(int space) { ordered_space_ = space; }

  // Everything in the builder's open block, placed at or after `wish`; the
  // last cycle. `key`: of the memory that its loads and stores touch; without
  // one, constants and loads come just before what reads them first, so that
  // they hold no register until then. `in_order`: one after another, in the
  // order of block_order.h.
  int64_t PlaceOpenBlock(int64_t wish, bool in_order = false, int64_t key = -1);

  // The same; the cycle of the last of them, which the others precede.
  int64_t PlaceLast(int64_t wish, int64_t key) {
    const codegen::VNode block = b_.TakeBlock();
    int64_t at = wish;
    for (const codegen::VInstr& v : block.instrs) {
      const bool memory = isa::IsVectorLoad(v.op) || isa::IsVectorStore(v.op);
      at = scheduler_.Place(v, wish, memory ? key : -1);
    }
    return at;
  }

  int64_t PlaceMxu(isa::Opcode op, int mxu, codegen::Vec a, int64_t wish,
                   int32_t imm = 0, int32_t block = codegen::kNone,
                   int32_t stage = codegen::kNone) {
    codegen::VInstr v;
    v.op = op;
    v.unit = static_cast<uint8_t>(mxu);
    v.a = a.id;
    v.b = block;
    v.c = stage;
    v.imm = imm;
    return scheduler_.Place(v, wish);
  }

 private:
  // The key of an instruction whose block has `key`.
  int64_t KeyOf(const codegen::VInstr& v, int64_t key) const;

  codegen::CodeBuilder& b_;
  codegen::StreamScheduler scheduler_;
  BlockOrder order_;
  int ordered_space_ = -1;
};

}  // namespace ptxla::lowering::stream

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_STREAM_CODE_H_
