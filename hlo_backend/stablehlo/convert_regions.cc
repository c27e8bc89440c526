// Regions to computations.
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/stablehlo/converter.h"

namespace ptxla::hlo::mlir {
namespace {

// Every value that the operations of a region mention.
void Mentioned(const Region& region, std::vector<ValueRef>* out) {
  for (const Op& op : region.ops) {
    out->insert(out->end(), op.operands.begin(), op.operands.end());
    for (const Region& inner : op.regions) Mentioned(inner, out);
  }
}

void Defined(const Region& region,
             absl::flat_hash_set<absl::string_view>* out) {
  for (const BlockArgument& a : region.arguments) out->insert(a.name);
  for (const Op& op : region.ops) {
    for (const auto& [name, count] : op.results) out->insert(name);
    for (const Region& inner : op.regions) Defined(inner, out);
  }
}

}  // namespace

absl::StatusOr<Computation*> Converter::RegionOf(const Op& op, int i,
                                                 Scope* scope,
                                                 absl::string_view name) {
  if (i >= static_cast<int>(op.regions.size())) {
    return absl::InvalidArgumentError("a region is missing");
  }
  const Region& region = op.regions[i];
  Computation* computation = module_->AddComputation(name);
  Scope inner(computation, scope);
  for (size_t n = 0; n < region.arguments.size(); ++n) {
    const BlockArgument& a = region.arguments[n];
    if (!a.type.shape.IsArray()) {
      return absl::InvalidArgumentError("its region takes what is no tensor");
    }
    inner.values[{a.name, 0}] =
        inner.builder.Parameter(static_cast<int64_t>(n), a.type.shape);
  }
  std::vector<Instruction*> results;
  RETURN_IF_ERROR(Body(region, &inner, &results));
  if (results.empty()) return absl::InvalidArgumentError("it returns nothing");
  computation->SetRoot(results.size() == 1 ? results[0]
                                           : inner.builder.Tuple(results));
  return computation;
}

absl::StatusOr<std::vector<std::pair<ValueKey, Instruction*>>>
Converter::Captured(const Op& op, Scope* scope) {
  std::vector<ValueRef> mentioned;
  absl::flat_hash_set<absl::string_view> defined;
  for (const Region& region : op.regions) {
    Mentioned(region, &mentioned);
    Defined(region, &defined);
  }
  std::vector<std::pair<ValueKey, Instruction*>> captured;
  absl::flat_hash_set<ValueKey> seen;
  for (const ValueRef& ref : mentioned) {
    if (defined.contains(ref.name)) continue;
    if (!seen.insert({ref.name, ref.index}).second) continue;
    ASSIGN_OR_RETURN(Instruction * value, Lookup(ref, scope));
    if (!value->IsConstant()) {
      captured.push_back({{ref.name, ref.index}, value});
    }
  }
  return captured;
}

absl::StatusOr<Computation*> Converter::TupleRegion(
    const Region& region, const std::vector<Shape>& arguments,
    const std::vector<std::pair<ValueKey, Instruction*>>& captured,
    bool return_captured, Scope* scope, absl::string_view name) {
  if (region.arguments.size() != arguments.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("its region takes ", region.arguments.size(),
                     " values instead of ", arguments.size()));
  }
  Computation* computation = module_->AddComputation(name);
  Scope inner(computation, scope);
  std::vector<Shape> shapes = arguments;
  for (const auto& [key, value] : captured) shapes.push_back(value->shape());
  Instruction* parameter = inner.builder.Parameter(
      0, shapes.size() == 1 ? shapes[0] : Shape::Tuple(shapes), "arg_tuple");
  std::vector<Instruction*> elements;
  for (size_t i = 0; i < shapes.size(); ++i) {
    elements.push_back(shapes.size() == 1
                           ? parameter
                           : inner.builder.GetTupleElement(
                                 parameter, static_cast<int64_t>(i)));
    inner.values[i < arguments.size() ? ValueKey(region.arguments[i].name, 0)
                                      : captured[i - arguments.size()].first] =
        elements[i];
  }
  std::vector<Instruction*> results;
  RETURN_IF_ERROR(Body(region, &inner, &results));
  if (return_captured) {
    results.insert(results.end(), elements.begin() + arguments.size(),
                   elements.end());
  }
  computation->SetRoot(results.size() == 1 ? results[0]
                                           : inner.builder.Tuple(results));
  return computation;
}

}  // namespace ptxla::hlo::mlir
