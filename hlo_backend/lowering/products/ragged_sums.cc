#include "hlo_backend/lowering/products/ragged_sums.h"

#include <algorithm>
#include <vector>

namespace ptxla::lowering {

using codegen::Sca;
using codegen::Vec;
using isa::When;

void RaggedSums::InStep(bool first, absl::FunctionRef<void()> emit) {
  const When::Kind kind = first ? When::Kind::kFirst : When::Kind::kLast;
  const bool groups = call_.dense && !call_.by_groups;
  if (groups) b_.BeginWhen(plan_.groups_dim, kind);
  b_.BeginWhen(plan_.grid.k, kind);
  emit();
  b_.EndWhen();
  if (groups) b_.EndWhen();
}

void RaggedSums::Clear() {
  InStep(true, [&] {
    EachRowTile("clear sums", [&](Sca at, Sca, int64_t c) {
      b_.Store(sums_.space, at, static_cast<int32_t>(c * isa::kVregBytes),
               b_.Imm(0));
    });
  });
}

void RaggedSums::Store(RaggedStore::Into into) {
  InStep(false, [&] {
    if (!call_.dense) return StoreRows(into);
    EachRowTile("store sums", [&](Sca from, Sca to, int64_t c) {
      b_.Store(result_.space, to, static_cast<int32_t>(c * result_.lane_pitch),
               b_.Load(sums_.space, from,
                       static_cast<int32_t>(c * isa::kVregBytes)));
    });
  });
}

void RaggedSums::StoreRows(RaggedStore::Into into) {
  const ProductTile& t = plan_.tile;
  b_.BeginScope();
  RaggedStore store(result_, rows_.low, rows_.high, rows_.first, into, &b_);
  for (int64_t row = 0; row < t.block_m; row += 16) {
    b_.NewBlock("store rows");
    for (int64_t col = 0; col < t.block_n; col += 128) {
      std::vector<Vec> tiles;
      for (int64_t at = row; at < std::min(row + 16, t.block_m); at += 8) {
        tiles.push_back(
            b_.Load(sums_.space, sums_.base,
                    static_cast<int32_t>(sums_.Offset(0, at, col))));
      }
      store.Emit(0, row, col, tiles);
    }
  }
  b_.EndScope();
}

void RaggedSums::EachRowTile(const char* label,
                             absl::FunctionRef<void(Sca, Sca, int64_t)> emit) {
  const ProductTile& t = plan_.tile;
  const Sca row = b_.BeginLoop(t.block_m / 8, 1);
  b_.NewBlock(label);
  const auto at = [&](const BlockPlace& place) {
    return b_.SAdd(place.base,
                   b_.SMulImm(row, static_cast<int32_t>(place.row_pitch)));
  };
  const Sca from = at(sums_), to = at(result_);
  for (int64_t c = 0; c < t.block_n / 128; ++c) emit(from, to, c);
  b_.EndLoop();
}

}  // namespace ptxla::lowering
