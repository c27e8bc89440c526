#include "hlo_backend/lowering/fusion/tile_fold.h"

#include <utility>

#include "base/status.h"
#include "hlo_backend/lowering/fusion/vector_math.h"

namespace ptxla::lowering {

using codegen::Vec;
using isa::Opcode;

absl::StatusOr<Vec> TileFold::Combine(Vec x, Vec y) {
  ASSIGN_OR_RETURN(Value v,
                   EmitMonoid(b_, r_.op, r_.type, Value::Of(x), Value::Of(y)));
  return v.vec;
}

absl::StatusOr<Vec> TileFold::Tree(std::vector<Vec> values) {
  while (values.size() > 1) {
    std::vector<Vec> next;
    for (size_t k = 0; k + 1 < values.size(); k += 2) {
      ASSIGN_OR_RETURN(Vec v, Combine(values[k], values[k + 1]));
      next.push_back(v);
    }
    if (values.size() % 2) next.push_back(values.back());
    values = std::move(next);
  }
  return values[0];
}

absl::StatusOr<Vec> TileFold::Sublanes(Vec v) {
  // Up to v4 the TPU compiler adds up the seven rotations one after the other,
  // on later chips it halves: 15 and 7 operations with the start value
  // (tpu_slots.md, section 4: sum of 8 sublanes).
  if (!isa::Supports(b_.model(), Opcode::kVmulU32)) {
    Vec sum = v;
    for (int shift = 1; shift < isa::kSublanes; ++shift) {
      ASSIGN_OR_RETURN(sum, Combine(sum, b_.RotateSublanes(v, shift)));
    }
    return sum;
  }
  for (int shift : {4, 2, 1}) {
    ASSIGN_OR_RETURN(v, Combine(v, b_.RotateSublanes(v, shift)));
  }
  return v;
}

absl::StatusOr<Vec> TileFold::WithInit(Vec v) {
  if (!r_.has_init) return v;
  return Combine(v, b_.Imm(r_.init));
}

absl::StatusOr<Vec> TileFold::Lanes(Vec v) {
  if (hlo::IsFloat(r_.type)) {
    if (r_.op == hlo::Opcode::kAdd) {
      return b_.Xlane(Opcode::kVaddXlane, v);
    }
    if (r_.op == hlo::Opcode::kMaximum) {
      return b_.Xlane(Opcode::kVmaxXlane, v);
    }
    if (r_.op == hlo::Opcode::kMinimum) {
      return b_.Xlane(Opcode::kVminXlane, v);
    }
  }
  for (int shift : {64, 32, 16, 8, 4, 2, 1}) {
    ASSIGN_OR_RETURN(v, Combine(v, b_.RotateLanes(v, shift)));
  }
  return v;
}

absl::Status JoinPeerParts(const std::vector<Reduction>& reductions,
                           codegen::CodeBuilder& b) {
  for (const Reduction& r : reductions) {
    if (r.peer.any()) r.peer.Send(b);
  }
  for (const Reduction& r : reductions) {
    if (!r.peer.any()) continue;
    TileFold fold(r, b);
    RETURN_IF_ERROR(r.peer.Combine(
        b, [&](codegen::Vec x, codegen::Vec y) { return fold.Combine(x, y); }));
  }
  return absl::OkStatus();
}

}  // namespace ptxla::lowering
