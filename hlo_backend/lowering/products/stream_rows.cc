#include "hlo_backend/lowering/products/stream_rows.h"

#include <algorithm>

#include "hlo_backend/lowering/codegen/spill_code.h"

namespace ptxla::lowering::stream {

using codegen::CodeBuilder;
using codegen::Vec;

Rows::Rows(const ProductProblem& problem, const ProductTile& tile,
           const ArrayShape& arrays, const StreamParts& parts, const Walk& walk,
           Code* code)
    : problem_(problem),
      parts_(parts),
      code_(*code),
      keeps_(parts.lhs.Converts() && walk.plan().macros_n > 1),
      loader_(arrays, parts.k_extent, &code->builder(), parts.lhs.type,
              parts.rhs.type),
      conversions_(parts.pace, code->builder().model()),
      transposes_(
          tile, parts, walk,
          [this](int64_t batch, int64_t row, int64_t wish) {
            MakeRows(parts_.turned, batch, row, wish);
          },
          code) {
  for (const BlockPlace* place : {&parts_.lhs, &parts_.rhs, &parts_.turned}) {
    if (place->computed) place->computed->Forget();
  }
}

int64_t Rows::Place(const BlockPlace& place, const ProductOperand& operand,
                    int part, int64_t wish, int64_t batch, int64_t row,
                    int64_t key) {
  const int64_t rows =
      place.computed ? place.computed->RowsKey(batch, row) : -1;
  const int64_t end =
      code_.PlaceOpenBlock(conversions_.Start(place, operand, part, wish),
                           false, rows < 0 ? key : kRowKeys + rows);
  conversions_.End(end);
  return end;
}

int64_t Rows::XluTakes(codegen::VInstr v, const codegen::VNode& block) const {
  if (const int32_t* written = codegen::WrittenBy(v)) {
    for (const codegen::VInstr& reader : block.instrs) {
      if (isa::Info(reader.op).unit == isa::ExecUnit::kXlu &&
          (reader.a == *written || reader.b == *written)) {
        return code_.scheduler().XluFree(reader.unit);
      }
    }
  }
  return 0;
}

void Rows::MakeRows(const BlockPlace& place, int64_t batch, int64_t row,
                    int64_t wish) {
  if (!place.computed) return;
  const int64_t key = place.computed->RowsKey(batch, row);
  if (key < 0) return;
  CodeBuilder& b = code_.builder();
  b.NewBlock();
  if (!place.computed->MakeRows(batch, row)) return;
  const int64_t ahead = place.computed->lead() + place.computed->rows_lead();
  // One after the other through the XLUs: what waits there holds no register.
  // There are few mask registers: a mask comes when its value does.
  const int64_t start = std::max(wish - ahead, rows_free_);
  int64_t popped = start;
  const codegen::VNode block = b.TakeBlock();
  for (const codegen::VInstr& v : block.instrs) {
    const bool memory = isa::IsVectorLoad(v.op) || isa::IsVectorStore(v.op);
    const isa::InstrInfo& info = isa::Info(v.op);
    const int64_t from =
        v.op == isa::Opcode::kVcmask
            ? popped
            : std::max(start, XluTakes(v, block) - ConversionPace::kLoadAhead);
    const int64_t at =
        code_.scheduler().Place(v, from, memory ? kRowKeys + key : -1);
    if (info.unit == isa::ExecUnit::kXlu) rows_free_ = at;
    if (info.pops != isa::Fifo::kNone) popped = std::max(popped, at);
  }
}

std::vector<Vec> Rows::Lhs(int64_t batch, int64_t row, int64_t k, int part,
                           int64_t wish) {
  const int64_t start = std::max<int64_t>(0, wish - ConversionPace::kLoadAhead);
  const int64_t turned = transposes_.Need(batch, row, k);
  MakeRows(parts_.lhs, batch, row, wish);
  code_.builder().NewBlock();
  if (parts_.operands != nullptr) {
    const auto regs = parts_.operands->Lhs(batch, row, k);
    code_.PlaceOpenBlock(start);
    return regs;
  }
  const int64_t offset =
      keeps_ ? parts_.converted_lhs.Offset(batch, row, k) : 0;
  if (keeps_ && !converted_.insert(offset).second) {
    const auto regs =
        loader_.Load(parts_.converted_lhs, batch, row, k, k, true, 0);
    code_.PlaceOpenBlock(start, false, kConvertedKeys + offset);
    return regs;
  }
  const auto regs = loader_.Load(parts_.lhs, batch, row, k, k, true, part);
  const int64_t at =
      Place(parts_.lhs, problem_.lhs, part, wish, batch, row, turned);
  if (keeps_) Keep(regs, offset, at);
  return regs;
}

void Rows::Keep(const std::vector<Vec>& regs, int64_t offset, int64_t at) {
  CodeBuilder& b = code_.builder();
  b.NewBlock();
  const BlockPlace& to = parts_.converted_lhs;
  if (regs.size() == 1) {
    b.StoreStrided(to.space, to.base, static_cast<int32_t>(offset),
                   static_cast<int32_t>(to.row_pitch), 4, regs[0]);
  }
  for (size_t i = 0; regs.size() > 1 && i < regs.size(); ++i) {
    b.Store(to.space, to.base, static_cast<int32_t>(offset + i * to.row_pitch),
            regs[i]);
  }
  code_.PlaceOpenBlock(at, false, kConvertedKeys + offset);
}

void Rows::MakeWeightRows(const Push& push, int64_t now) {
  const int64_t batch = push.lane.batch;
  if (!problem_.rhs.transposed) {
    MakeRows(parts_.rhs, batch, push.k + push.row, now);
    return;
  }
  MakeRows(parts_.rhs, batch, push.lane.col + push.row, now);
  if (push.two_columns) {
    MakeRows(parts_.rhs, batch, push.lane.col + 128 + push.row, now);
  }
}

std::vector<Vec> Rows::Weights(const Push& push, int64_t col, int part,
                               int64_t wish) {
  const int64_t batch = push.lane.batch;
  const int64_t row =
      problem_.rhs.transposed ? col + push.row : push.k + push.row;
  MakeRows(parts_.rhs, batch, row, wish);
  code_.builder().NewBlock();
  const std::vector<Vec> regs =
      parts_.operands != nullptr
          ? parts_.operands->Weights(batch, push.row, col, push.k)
      : problem_.rhs.transposed
          ? loader_.Load(parts_.rhs, batch, row, push.k, push.k, true, part)
          : loader_.Load(parts_.rhs, batch, row, col, row, false, part);
  Place(parts_.rhs, problem_.rhs, part, wish, batch, row);
  return regs;
}

}  // namespace ptxla::lowering::stream
