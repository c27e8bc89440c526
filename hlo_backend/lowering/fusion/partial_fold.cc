#include "hlo_backend/lowering/fusion/partial_fold.h"

#include <vector>

#include "base/status.h"
#include "hlo_backend/lowering/codegen/spaces.h"

namespace ptxla::lowering {

using codegen::Sca;
using codegen::Vec;

void PartialFold::Begin() {
  if (r_.waiting < 0) return;
  waiting_ = b_.GlobalSca();
  b_.ScratchAddress(waiting_, static_cast<int32_t>(r_.waiting));
}

Vec PartialFold::Partial(Sca from, int64_t offset) {
  return b_.Load(codegen::kReductionSpace, from, static_cast<int32_t>(offset));
}

Vec PartialFold::ExtremumAt(Sca from, int64_t offset) {
  return Partial(from, offset + extremum_->scratch - r_.scratch);
}

absl::StatusOr<Vec> PartialFold::Position(Sca from, int64_t offset, bool all) {
  PositionFold fold(*extremum_, r_, b_);
  ASSIGN_OR_RETURN(
      const PositionFold::Pair best,
      fold.Tile({ExtremumAt(from, offset), Partial(from, offset)}, true, all));
  return fold.WithInit(best);
}

absl::StatusOr<Vec> PartialFold::Element(Sca from, int64_t offset) {
  if (extremum_ != nullptr) return Position(from, offset, true);
  ASSIGN_OR_RETURN(Vec v, fold_.Sublanes(Partial(from, offset)));
  ASSIGN_OR_RETURN(v, fold_.Lanes(v));
  return fold_.WithInit(v);
}

absl::StatusOr<Vec> PartialFold::Columns(Sca from, int64_t offset) {
  if (extremum_ != nullptr) return Position(from, offset, false);
  ASSIGN_OR_RETURN(Vec v, fold_.Sublanes(Partial(from, offset)));
  return fold_.WithInit(v);
}

absl::StatusOr<Vec> PartialFold::Rows(Sca from, int64_t offset, int count) {
  const auto tiles = [&](bool extremum) {
    std::vector<Vec> partials(count);
    for (int k = 0; k < count; ++k) {
      const int64_t at = offset + k * int64_t{isa::kVregBytes};
      partials[k] = extremum ? ExtremumAt(from, at) : Partial(from, at);
    }
    return partials;
  };
  if (extremum_ != nullptr) {
    PositionFold fold(*extremum_, r_, b_);
    ASSIGN_OR_RETURN(
        const PositionFold::Pair best,
        fold.Rows([&] { return tiles(true); }, [&] { return tiles(false); },
                  waiting_, number_++));
    return fold.WithInit(best);
  }
  ASSIGN_OR_RETURN(Vec v, fold_.Tree(b_.Transpose(tiles(false), 16)));
  ASSIGN_OR_RETURN(v, fold_.Sublanes(v));
  return fold_.WithInit(v);
}

}  // namespace ptxla::lowering
