#include "hlo_backend/stablehlo/static_forms.h"

#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "hlo_backend/stablehlo/op_attributes.h"

namespace ptxla::hlo::mlir {
namespace {

struct Row {
  const char* dynamic;
  const char* plain;
  int kept;  // operands that stay; -1: all but those that say something
  // What the others say, in order; "" the shape of the result, "-" nothing.
  std::vector<const char*> says;
};

const std::vector<Row>& Rows() {
  static const auto& rows = *new std::vector<Row>{
      {"stablehlo.dynamic_broadcast_in_dim",
       "stablehlo.broadcast_in_dim",
       1,
       {""}},
      {"stablehlo.dynamic_conv", "stablehlo.convolution", 2, {"padding"}},
      {"stablehlo.dynamic_gather", "stablehlo.gather", 2, {"slice_sizes"}},
      {"stablehlo.dynamic_iota", "stablehlo.iota", 0, {""}},
      {"stablehlo.dynamic_pad",
       "stablehlo.pad",
       2,
       {"edge_padding_low", "edge_padding_high", "interior_padding"}},
      {"stablehlo.dynamic_reshape", "stablehlo.reshape", 1, {""}},
      {"stablehlo.real_dynamic_slice",
       "stablehlo.slice",
       1,
       {"start_indices", "limit_indices", "strides"}},
      // JAX writes these as custom calls.
      {"@stablehlo.dynamic_rng_bit_generator",
       "stablehlo.rng_bit_generator",
       1,
       {"-"}},
      {"@stablehlo.dynamic_reduce_window",
       "stablehlo.reduce_window",
       -1,
       {"window_dimensions", "window_strides", "base_dilations",
        "window_dilations", "padding"}},
      {"@stablehlo.dynamic_top_k", "chlo.top_k", 1, {"k"}},
      {"@stablehlo.dynamic_approx_top_k", "@ApproxTopK", 4, {"top_k"}}};
  return rows;
}

const Row* Find(const Op& op) {
  std::string name = op.name;
  if (name == "stablehlo.custom_call") {
    name = absl::StrCat("@", EnumWord(op.attributes, {"call_target_name"}));
  }
  for (const Row& row : Rows()) {
    if (name == row.dynamic) return &row;
  }
  return nullptr;
}

void SetDims(const Literal& sizes, Type* type) {
  if (!type->shape.IsArray() || type->shape.rank() != sizes.ElementCount()) {
    return;  // the handler says what is wrong
  }
  for (int d = 0; d < type->shape.rank(); ++d) {
    type->shape.set_dim(d, sizes.GetInt(d));
    type->shape.set_dynamic_dim(d, false);
  }
}

Attr DenseAttr(const Literal& literal) {
  Attr attr;
  attr.kind = Attr::Kind::kDense;
  attr.dense = std::make_shared<const Literal>(literal);
  return attr;
}

// indices_of_shape_operands = dense<[5, 6]>: the shape of each result.
void SetShapesFromOperands(const Op& op,
                           const std::vector<Instruction*>& operands,
                           std::vector<Type>* types) {
  const auto indices = Ints(op.attributes, {"indices_of_shape_operands"});
  if (!indices.ok()) return;
  for (size_t r = 0; r < indices->size() && r < types->size(); ++r) {
    const int64_t k = (*indices)[r];
    if (k < 0 || k >= static_cast<int64_t>(operands.size())) continue;
    if (operands[k]->IsConstant()) {
      SetDims(operands[k]->literal(), &(*types)[r]);
    }
  }
}

}  // namespace

bool MayBeDynamic(const Op& op) {
  return absl::StartsWith(op.name, "stablehlo.dynamic_") ||
         op.name == "stablehlo.real_dynamic_slice" ||
         op.name == "stablehlo.custom_call";
}

std::optional<Op> StaticForm(const Op& op,
                             const std::vector<Instruction*>& operands) {
  const Row* row = Find(op);
  if (row == nullptr || operands.size() < row->says.size()) {
    return std::nullopt;
  }
  const size_t kept =
      row->kept < 0 ? operands.size() - row->says.size() : row->kept;
  if (operands.size() < kept + row->says.size()) return std::nullopt;
  for (size_t k = kept; k < operands.size(); ++k) {
    if (!operands[k]->IsConstant() || operands[k]->literal().IsElided()) {
      return std::nullopt;
    }
  }
  Op form;
  form.position = op.position;
  form.location = op.location;
  form.results = op.results;
  form.attributes = op.attributes;
  form.result_types = op.result_types;
  form.operands.assign(op.operands.begin(), op.operands.begin() + kept);
  if (row->plain[0] == '@') {
    form.name = op.name;
    for (auto& [key, value] : form.attributes) {
      if (key == "call_target_name") value.text = row->plain + 1;
    }
  } else {
    form.name = row->plain;
  }
  SetShapesFromOperands(op, operands, &form.result_types);
  for (size_t k = 0; k < row->says.size(); ++k) {
    const Literal& said = operands[kept + k]->literal();
    const absl::string_view key = row->says[k];
    if (key.empty()) {
      for (Type& type : form.result_types) SetDims(said, &type);
    } else if (key == "-") {
      SetDims(said, &form.result_types.back());
    } else if (said.shape().IsScalar()) {
      form.attributes.emplace_back(key, Attr::Int(said.GetInt(0)));
    } else {
      form.attributes.emplace_back(key, DenseAttr(said));
    }
  }
  // The values are the last dimension of both results.
  if (row->plain == absl::string_view("chlo.top_k")) {
    for (Type& type : form.result_types) {
      const int last = type.shape.rank() - 1;
      for (int d = 0; d < last; ++d) {
        type.shape.set_dim(d, operands[0]->shape().dim(d));
        type.shape.set_dynamic_dim(d, false);
      }
      type.shape.set_dim(last, operands[1]->literal().GetInt(0));
      type.shape.set_dynamic_dim(last, false);
    }
  }
  return form;
}

}  // namespace ptxla::hlo::mlir
