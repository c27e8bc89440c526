#include "hlo_backend/ir/ragged_call.h"

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "base/units.h"

namespace ptxla::hlo {

std::optional<RaggedCall> RaggedCall::Of(const Instruction& i) {
  if (i.opcode() != Opcode::kCustomCall) return std::nullopt;
  const std::string& target = i.attrs<CustomCallAttrs>().target;
  RaggedCall call;
  call.by_groups = target == kRaggedDotGroups;
  if (!call.by_groups && target != kRaggedDotRows) return std::nullopt;
  call.dense = i.operand_count() == 4;
  const Shape &lhs = i.operand(0)->shape(), &rhs = i.operand(1)->shape();
  call.rows = lhs.dim(0);
  call.k = lhs.dim(1);
  call.n = rhs.dim(rhs.rank() - 1);
  call.groups = i.operand(2)->shape().dim(0);
  call.result = i.shape().type();
  if (call.dense) return call;
  absl::string_view config = i.backend_config();
  if (!absl::ConsumePrefix(&config, "tile_rows=") ||
      !absl::SimpleAtoi(config, &call.tile_rows)) {
    return std::nullopt;
  }
  call.steps = StepsFor(call.rows, call.tile_rows, call.groups);
  return call;
}

double RaggedCall::MultiplyAdds() const {
  return static_cast<double>(rows) * static_cast<double>(k) *
         static_cast<double>(n);
}

RaggedDotAttrs RaggedCall::Attributes() const {
  RaggedDotAttrs attrs;
  attrs.lhs_ragged = {0};
  attrs.dot.lhs_contracting = {by_groups ? 0 : 1};
  attrs.dot.rhs_contracting = {by_groups ? 0 : 1};
  if (!by_groups) attrs.rhs_group = {0};
  return attrs;
}

int64_t RaggedCall::StepsFor(int64_t rows, int64_t tile_rows, int64_t groups) {
  return CeilOfRatio(rows, tile_rows) + groups;
}

}  // namespace ptxla::hlo
