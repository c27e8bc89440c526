#include "driver/explain/find_op.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/suggest.h"
#include "hlo_backend/ir/computation.h"
#include "reports/op_label.h"

namespace ptxla::driver {
namespace {

constexpr size_t kNearest = 4;

// The op that runs for each instruction of the module that `wanted` holds for:
// itself, or the fusion around it.
template <class Wanted>
absl::flat_hash_set<std::string> OpsOf(const hlo::Module& module,
                                       Wanted wanted) {
  absl::flat_hash_set<std::string> ops;
  for (const hlo::Computation* c : module.computations()) {
    for (const hlo::Instruction* i : c->instructions()) {
      if (wanted(*i)) ops.insert(i->name());
      if (i->opcode() != hlo::Opcode::kFusion) continue;
      for (const hlo::Instruction* inner : i->fused()->instructions()) {
        if (wanted(*inner)) ops.insert(i->name());
      }
    }
  }
  return ops;
}

std::string Nearest(const record::ProgramRecord& program,
                    absl::string_view asked) {
  // Ops whose name holds the word come first, then those a few letters away.
  std::vector<std::tuple<int, int, std::string>> near;
  int order = 0;
  for (const record::OpRecord& op : program.ops()) {
    const bool holds = absl::StrContains(op.name(), asked);
    near.emplace_back(holds ? 0 : EditDistance(op.name(), asked), order++,
                      op.name());
  }
  std::sort(near.begin(), near.end());
  if (near.size() > kNearest) near.resize(kNearest);
  return absl::StrJoin(near, ", ", [](std::string* out, const auto& n) {
    absl::StrAppend(out, std::get<2>(n));
  });
}

}  // namespace

OriginMap OriginsOf(const hlo::Module& input) {
  OriginMap origins;
  for (const hlo::Computation* c : input.computations()) {
    for (const hlo::Instruction* i : c->instructions()) {
      if (i->source_line() <= 0) continue;
      origins.emplace(i->name(),
                      std::pair(i->source_line(), i->source_column()));
    }
  }
  return origins;
}

absl::StatusOr<FoundOp> FindOp(const hlo::Module& scheduled,
                               const OriginMap& origins,
                               const record::ProgramRecord& program,
                               absl::string_view asked) {
  const std::string name(absl::StripPrefix(asked, "%"));
  // Longest first.
  const auto first = [&](const absl::flat_hash_set<std::string>& names) {
    for (const record::OpRecord& op : program.ops()) {
      if (names.contains(op.name())) return op.name();
    }
    return std::string();
  };
  if (!first({name}).empty()) return FoundOp{name, ""};
  std::string op = first(OpsOf(
      scheduled, [&](const hlo::Instruction& i) { return i.name() == name; }));
  const auto origin = origins.find(name);
  if (op.empty() && origin != origins.end()) {
    op = first(OpsOf(scheduled, [&](const hlo::Instruction& i) {
      return std::pair(i.source_line(), i.source_column()) == origin->second;
    }));
  }
  if (!op.empty()) {
    return FoundOp{op, absl::StrCat(name, " is inside of ", op)};
  }
  for (const record::OpRecord& op : program.ops()) {
    const reports::OpLabel label = reports::LabelOf(op);
    const std::string spot = label.layer.empty()
                                 ? label.kind
                                 : absl::StrCat(label.layer, " ", label.kind);
    if (spot == name || label.kind == name || label.layer == name) {
      return FoundOp{op.name(),
                     absl::StrCat("the longest op of \"", name, "\"")};
    }
  }
  return absl::NotFoundError(
      absl::StrCat("no op \"", asked, "\" runs in ", program.name(),
                   "; nearest: ", Nearest(program, name)));
}

}  // namespace ptxla::driver
