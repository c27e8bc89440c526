// Sizes for dimensions that types leave open: see Converter::set_sizes.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/status.h"
#include "hlo_backend/stablehlo/converter.h"
#include "hlo_backend/stablehlo/fold_sizes.h"
#include "hlo_backend/stablehlo/static_forms.h"

namespace ptxla::hlo::mlir {

std::optional<Shape> Joined(const Shape& made, const Shape& type) {
  Shape joined = made;
  if (made.IsTuple() && type.IsTuple()) {
    const int count = made.element_count_of_tuple();
    if (count != type.element_count_of_tuple()) return std::nullopt;
    std::vector<Shape> elements;
    for (int i = 0; i < count; ++i) {
      auto element = Joined(made.element(i), type.element(i));
      if (!element.has_value()) return std::nullopt;
      elements.push_back(*std::move(element));
    }
    return Shape::Tuple(std::move(elements));
  }
  if (made.type() != type.type() || made.rank() != type.rank()) {
    return std::nullopt;
  }
  for (int d = 0; d < made.rank(); ++d) {
    if (made.dim(d) == type.dim(d) || type.dim(d) == Shape::kUnbounded) {
      continue;
    }
    if (made.dim(d) != Shape::kUnbounded) return std::nullopt;
    joined.set_dim(d, type.dim(d));
    joined.set_dynamic_dim(d, type.is_dynamic_dim(d));
  }
  return joined;
}

absl::StatusOr<Instruction*> Converter::Made(const Op& op, Scope* scope) {
  Handler handler = FindHandler(op.name);
  if (handler == nullptr) {
    if (MayBeDynamic(op)) {
      return absl::UnimplementedError(
          "its shape is computed: give the sizes of the arguments' open "
          "dimensions (--sizes)");
    }
    return absl::UnimplementedError("HLO has no such operation");
  }
  RETURN_IF_ERROR(CheckQuantized(op));
  if (!refining()) return handler(op, *this, scope);
  Refine(op, scope);
  auto made = handler(op, *this, scope);
  refined_.erase(&op);
  if (!made.ok()) return made;
  const auto size = FoldSizes(**made);
  return size.has_value() ? scope->builder.Constant(*size) : *made;
}

absl::Status Converter::SetSizes(const Op& main) {
  if (!refining()) return absl::OkStatus();
  size_t next = 0;
  std::string open;
  if (main.regions.empty()) return absl::OkStatus();
  for (const BlockArgument& a : main.regions[0].arguments) {
    Shape shape = a.type.shape;
    if (shape.HasUnboundedDims()) {
      absl::StrAppend(&open, open.empty() ? "" : ", ", a.name, " ",
                      shape.ToString());
    }
    for (int d = 0; shape.IsArray() && d < shape.rank(); ++d) {
      if (shape.dim(d) != Shape::kUnbounded) continue;
      if (next < sizes_.size()) {
        if (sizes_[next] < 0) {
          return absl::InvalidArgumentError(
              absl::StrCat("the size ", sizes_[next], " is negative"));
        }
        shape.set_dim(d, sizes_[next]);
        shape.set_dynamic_dim(d, false);
      }
      ++next;
    }
    main_arguments_.push_back(std::move(shape));
  }
  if (next == sizes_.size()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(sizes_.size(), " sizes for ", next, " open dimensions",
                   open.empty() ? "" : absl::StrCat(" (", open, ")")));
}

// What is open in the type of a result is as in the first operand, if that has
// its rank. Other operations find out for themselves.
void Converter::Refine(const Op& op, Scope* scope) {
  bool is_open = false;
  std::vector<Shape> shapes;
  for (const Type& type : op.result_types) {
    is_open |= type.shape.HasUnboundedDims();
    shapes.push_back(type.shape);
  }
  if (!is_open || op.operands.empty()) return;
  const auto first = Operand(op, 0, scope);
  if (!first.ok()) return;
  const Shape& from = (*first)->shape();
  for (Shape& shape : shapes) {
    if (!shape.IsArray() || !from.IsArray() || shape.rank() != from.rank()) {
      continue;
    }
    for (int d = 0; d < shape.rank(); ++d) {
      if (shape.dim(d) != Shape::kUnbounded) continue;
      shape.set_dim(d, from.dim(d));
      shape.set_dynamic_dim(d, from.is_dynamic_dim(d));
    }
  }
  refined_[&op] = std::move(shapes);
}

// What the exporter demands of sizes: "... 'b' = {0} ...".
absl::Status Converter::CheckAssertion(const Op& op, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, Operands(op, scope));
  if (operands.empty() || !operands[0]->IsConstant() ||
      operands[0]->literal().GetInt(0) != 0) {
    return absl::OkStatus();
  }
  const Attr* message = op.Find("error_message");
  std::string text = message == nullptr ? "sizes do not fit" : message->text;
  for (size_t k = 1; k < operands.size(); ++k) {
    if (!operands[k]->IsConstant()) continue;
    text = absl::StrReplaceAll(
        text, {{absl::StrCat("{", k - 1, "}"),
                absl::StrCat(operands[k]->literal().GetInt(0))}});
  }
  return absl::InvalidArgumentError(text);
}

absl::StatusOr<Instruction*> Converter::Inline(
    const std::string& name, const std::vector<Instruction*>& operands,
    Scope* scope) {
  const auto it = functions_.find(name);
  if (it == functions_.end() || it->second.op->regions.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("no function @", name));
  }
  const Region& region = it->second.op->regions[0];
  if (region.arguments.size() != operands.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("@", name, " takes ", region.arguments.size(),
                     " values instead of ", operands.size()));
  }
  if (!inlining_.insert(name).second) {
    return absl::UnimplementedError(absl::StrCat("@", name, " calls itself"));
  }
  Scope inner(scope->builder.computation(), nullptr);
  for (size_t k = 0; k < operands.size(); ++k) {
    inner.values[{region.arguments[k].name, 0}] = operands[k];
  }
  std::vector<Instruction*> results;
  RETURN_IF_ERROR(Body(region, &inner, &results));
  inlining_.erase(name);
  return results.size() == 1 ? results[0] : scope->builder.Tuple(results);
}

}  // namespace ptxla::hlo::mlir
