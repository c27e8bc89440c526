#include "hlo_backend/lowering/products/row_padding.h"

#include "hlo_backend/lowering/codegen/word_bits.h"
#include "isa/instruction.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Vec;
using isa::Opcode;

namespace {

constexpr uint32_t kLowHalf = 0xFFFFu;

// All bits of sublanes [0, lo) and [hi, 8), of sublane `lo` those in `bits`.
Vec Bits(CodeBuilder* b, int lo, int hi, uint32_t bits) {
  Vec kept = b->Imm(0);
  const auto keep = [&](int from, int to, uint32_t value) {
    if (from >= to) return;
    kept = b->Binary(
        Opcode::kVor, kept,
        b->SelectImm(b->Range(0, isa::kLanes, from, to), b->Imm(value), 0));
  };
  keep(0, lo, codegen::kAllBits);
  if (bits != 0) keep(lo, lo + 1, bits);
  keep(hi, isa::kSublanes, codegen::kAllBits);
  return kept;
}

}  // namespace

RowPadding::RowPadding(int64_t rows, int64_t tiles, bool bf16, CodeBuilder* b)
    : rest_(rows % isa::kSublanes),
      tiles_(tiles),
      bf16_(bf16),
      exists_(rest_ != 0) {
  if (!exists_) return;
  b->NewBlock("rows that exist");
  for (Vec& bits : bits_) bits = b->GlobalVec();
  SetBits(b);
}

// Two rows of bf16 share a word, the first in its lower half; 8 rows are half a
// register.
void RowPadding::SetBits(CodeBuilder* b) {
  const int rest = static_cast<int>(rest_);
  for (int second = 0; second < 2; ++second) {
    const int begin = bf16_ ? 4 * second : 0, size = bf16_ ? 4 : 8;
    b->Move(bits_[second],
            Bits(b, begin + (bf16_ ? rest / 2 : rest), begin + size,
                 bf16_ && rest % 2 == 1 ? kLowHalf : 0));
  }
}

void RowPadding::ForPartsOf(int dim, CodeBuilder* b) {
  if (!exists_) return;
  b->NewBlock("rows that exist");
  for (const Vec bits : bits_) b->Move(bits, b->Imm(codegen::kAllBits));
  b->BeginWhen(dim, isa::When::Kind::kLast);
  b->NewBlock("rows that exist");
  SetBits(b);
  b->EndWhen();
}

void RowPadding::Clear(std::vector<Vec>* regs, int64_t tile,
                       CodeBuilder* b) const {
  if (!exists_) return;
  for (Vec& reg : *regs) {
    for (int half = 0; half < (bf16_ ? 2 : 1); ++half, ++tile) {
      if (tile % tiles_ != tiles_ - 1) continue;
      reg = b->Binary(Opcode::kVand, reg, bits_[half]);
    }
  }
}

}  // namespace ptxla::lowering
