// ExpandReduction: what later stages of a fusion read of a finished reduction.
#include "base/status.h"
#include "hlo_backend/lowering/codegen/spaces.h"
#include "hlo_backend/lowering/fusion/geometry_facts.h"
#include "hlo_backend/lowering/fusion/reduction.h"
#include "hlo_backend/lowering/fusion/tile_fold.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

absl::Status ExpandReduction(const Reduction& r, const Geometry& g,
                             int64_t tiles, CodeBuilder& b) {
  TileFold fold(r, b);
  b.BeginScope();
  b.NewBlock("expand");
  const Sca from = b.GlobalSca();
  b.ScratchAddress(from, static_cast<int32_t>(r.scratch));
  constexpr int kTogether = 16;
  const auto some = [&](int64_t count) -> absl::Status {
    for (int64_t k = 0; k < count; ++k) {
      const int32_t at = static_cast<int32_t>(k * isa::kVregBytes);
      Vec v = b.Load(codegen::kReductionSpace, from, at);
      if (FoldsSublanes(g)) {
        ASSIGN_OR_RETURN(v, fold.Sublanes(v));
      }
      if (FoldsLanes(g)) {
        ASSIGN_OR_RETURN(v, fold.Lanes(v));
      }
      ASSIGN_OR_RETURN(v, fold.WithInit(v));
      b.Store(codegen::kReductionSpace, from, at, v);
    }
    return absl::OkStatus();
  };
  const int64_t loops = tiles / kTogether;
  if (loops > 0) {
    b.BeginLoop(loops, 1);
    b.NewBlock("expand");
    RETURN_IF_ERROR(some(kTogether));
    b.SBinaryImmTo(from, Opcode::kSadd, from, kTogether * isa::kVregBytes);
    b.EndLoop();
  }
  b.NewBlock("expand");
  RETURN_IF_ERROR(some(tiles % kTogether));
  b.EndScope();
  return absl::OkStatus();
}

}  // namespace ptxla::lowering
