#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/analysis/monoid.h"
#include "hlo_backend/ir/verifier.h"
#include "hlo_backend/lowering/schedule/lowerer.h"

namespace ptxla::lowering {

using hlo::Instruction;

absl::Status Lowerer::Collective(const Instruction& i,
                                 isa::Schedule* schedule) {
  isa::CollectiveStart start;
  start.id = next_id_++;
  switch (i.opcode()) {
    case hlo::Opcode::kAllGather:
    case hlo::Opcode::kAllGatherStart:
      start.kind = isa::CollectiveKind::kAllGather;
      break;
    case hlo::Opcode::kReduceScatter:
      start.kind = isa::CollectiveKind::kReduceScatter;
      break;
    // Timing takes pieces of equal size.
    case hlo::Opcode::kRaggedAllToAll:
    case hlo::Opcode::kAllToAll:
      start.kind = isa::CollectiveKind::kAllToAll;
      break;
    case hlo::Opcode::kCollectivePermute:
    case hlo::Opcode::kCollectivePermuteStart:
      start.kind = isa::CollectiveKind::kPermute;
      break;
    default:
      start.kind = isa::CollectiveKind::kAllReduce;
      break;
  }
  if (const auto* attrs = i.attrs_if<hlo::PermuteAttrs>()) {
    start.pairs = attrs->source_target_pairs;
  } else {
    start.groups = i.attrs<hlo::CollectiveAttrs>().groups.Expand();
  }
  if (!i.called().empty()) {
    const auto monoid = hlo::MonoidOf(*i.to_apply());
    if (!monoid) {
      return absl::UnimplementedError(absl::StrCat(
          hlo::Describe(i), ": its reduction is not one operation"));
    }
    start.reduction = *monoid == hlo::Opcode::kAdd ? isa::Reduction::kSum
                      : *monoid == hlo::Opcode::kMultiply
                          ? isa::Reduction::kProduct
                      : *monoid == hlo::Opcode::kMinimum ? isa::Reduction::kMin
                                                         : isa::Reduction::kMax;
  }
  for (const Instruction* operand : i.operands()) {
    if (!operand->shape().IsArray()) continue;
    // Behind the array of a ragged exchange stand its result and sizes.
    if (i.opcode() == hlo::Opcode::kRaggedAllToAll && !start.from.empty())
      break;
    if (start.dtype.empty()) {
      start.dtype =
          std::string(hlo::PrimitiveTypeName(operand->shape().type()));
    }
    const int64_t bytes = BytesOf(*operand);
    start.bytes += bytes;
    RETURN_IF_ERROR(AppendPlaces(operand, &start.from));
  }
  RETURN_IF_ERROR(AppendPlaces(&i, &start.to));
  // Some -start shapes are (operands, results): the results come last.
  while (start.to.size() > start.from.size()) {
    start.to.erase(start.to.begin());
  }
  const bool async = hlo::IsAsyncStart(i.opcode());
  const int id = start.id;
  started_[&i] = id;
  schedule->push_back({InfoOf(i), std::move(start)});
  if (!async) schedule->push_back({InfoOf(i), isa::CollectiveDone{id}});
  return absl::OkStatus();
}

}  // namespace ptxla::lowering
