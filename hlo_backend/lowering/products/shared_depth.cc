#include "hlo_backend/lowering/products/shared_depth.h"

#include <algorithm>
#include <vector>

#include "hlo_backend/lowering/codegen/spaces.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Vec;
using isa::Opcode;

namespace {

// Registers that two tiles of both cores' sums take before they are added.
constexpr int kLoaded = 4;

}  // namespace

void FinishSharedSums(const SharedSums& shared, const EpiloguePace& pace,
                      Epilogue* epilogue, CodeBuilder* builder) {
  CodeBuilder& b = *builder;
  shared.parts.Await(b);
  b.BeginScope();
  b.NewBlock("add parts");
  const BlockPlace& mine = shared.sums;
  const codegen::Sca other = b.GlobalSca();
  shared.parts.AddressTo(other, b);
  const auto tile = [&](int64_t batch, int64_t row, int64_t col) {
    const auto at = static_cast<int32_t>(mine.Offset(batch, row, col));
    return b.Binary(shared.integers ? Opcode::kVaddS32 : Opcode::kVaddF32,
                    b.Load(mine.space, mine.base, at),
                    b.Load(codegen::kPeerSpace, other, at));
  };
  const double registers = pace.share * b.model().vregs;
  const int64_t together = std::max<int64_t>(
      1,
      static_cast<int64_t>(registers / (epilogue->live_registers() + kLoaded)));
  int64_t in_block = 0;
  for (int64_t batch = 0; batch < shared.batch; ++batch) {
    for (int64_t col = 0; col < shared.columns; col += isa::kLanes) {
      for (int64_t row = 0; row < shared.rows; row += 16) {
        if (in_block++ == together) {
          b.NewBlock("add parts");
          in_block = 1;
        }
        std::vector<Vec> tiles;
        if (shared.is_empty && shared.is_empty(batch, row)) {
          tiles.assign(2, b.Imm(0));
        } else {
          tiles = {tile(batch, row, col), tile(batch, row + 8, col)};
        }
        epilogue->Emit(batch, row, col, tiles);
      }
    }
  }
  b.EndScope();
}

}  // namespace ptxla::lowering
