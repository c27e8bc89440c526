#include "reports/op_label.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace ptxla::reports {
namespace {

template <size_t N>
bool IsOneOf(absl::string_view word, const absl::string_view (&words)[N]) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

// Operations of PyTorch and JAX that are products.
constexpr absl::string_view kProducts[] = {"mm",      "addmm",       "bmm",
                                           "baddbmm", "matmul",      "einsum",
                                           "linear",  "dot_general", "dot"};
// Updates in place that optimizers are made of.
constexpr absl::string_view kUpdates[] = {"addcdiv", "addcmul", "lerp"};
// Operations that only move data: the instruction says better how.
constexpr absl::string_view kMoves[] = {"view",
                                        "permute",
                                        "expand",
                                        "transpose",
                                        "t",
                                        "reshape",
                                        "copy",
                                        "select",
                                        "generic_slice",
                                        "slice",
                                        "stack",
                                        "cast",
                                        "index_put",
                                        "index_select",
                                        "broadcast_in_dim",
                                        "convert_element_type"};
constexpr absl::string_view kMovingOpcodes[] = {"reshape",
                                                "transpose",
                                                "copy",
                                                "gather",
                                                "scatter",
                                                "slice",
                                                "pad",
                                                "reverse",
                                                "convert",
                                                "concatenate",
                                                "dynamic-slice",
                                                "broadcast",
                                                "dynamic-update-slice"};

// "fusion.17.remat2" -> "fusion".
std::string BaseName(const std::string& name) {
  const size_t dot = name.find('.');
  return dot == std::string::npos || dot == 0 ? name : name.substr(0, dot);
}

// "transpose(jvp(mlp))" -> "mlp"; "jit(step)" -> "".
std::string Unwrapped(absl::string_view part) {
  while (absl::EndsWith(part, ")")) {
    const size_t open = part.find('(');
    if (open == absl::string_view::npos) break;
    const absl::string_view function = part.substr(0, open);
    if (function == "jit" || function == "pjit") return "";
    part = part.substr(open + 1, part.size() - open - 2);
  }
  return std::string(part);
}

// "_softmax_backward_data" -> "softmax", "native_batch_norm" -> "batch norm".
std::string Words(absl::string_view operation) {
  while (absl::ConsumePrefix(&operation, "_")) {
  }
  absl::ConsumePrefix(&operation, "native_");
  absl::ConsumeSuffix(&operation, "_backward_data");
  absl::ConsumeSuffix(&operation, "_backward");
  return absl::StrReplaceAll(operation, {{"_", " "}});
}

std::string Kind(absl::string_view operation, const record::OpRecord& op) {
  const std::string& opcode = op.opcode();
  if (absl::StartsWith(opcode, "all-") ||
      absl::StartsWith(opcode, "collective-") ||
      absl::StartsWith(opcode, "reduce-scatter")) {
    return opcode;
  }
  if (IsOneOf(operation, kProducts)) return "matmul";
  if (IsOneOf(operation, kUpdates)) return "update";
  if (operation.empty() || IsOneOf(operation, kMoves)) {
    if (opcode == "dot") return "matmul";
    // What the array is busy with is a product, whatever the fusion's root.
    const std::string name = BaseName(op.name());
    return op.bound() == "mxu" ? absl::StrCat("matmul in ", name) : name;
  }
  if (IsOneOf(opcode, kMovingOpcodes)) {
    return absl::StrCat(Words(operation), " ", opcode);
  }
  return Words(operation);
}

}  // namespace

std::string LayerPattern(const std::string& layer) {
  std::string out;
  for (size_t i = 0; i < layer.size(); ++i) {
    const bool starts = i == 0 || !absl::ascii_isalnum(layer[i - 1]);
    if (!starts || !absl::ascii_isdigit(layer[i])) {
      out += layer[i];
      continue;
    }
    size_t end = i;
    while (end < layer.size() && absl::ascii_isdigit(layer[end])) ++end;
    if (end == layer.size() || !absl::ascii_isalnum(layer[end])) {
      out += '*';
    } else {
      out += layer.substr(i, end - i);
    }
    i = end - 1;
  }
  return out;
}

OpLabel LabelOf(const record::OpRecord& op) {
  std::vector<std::string> parts = absl::StrSplit(op.layer(), '/');
  std::string operation;
  absl::string_view last = parts.back();
  if (absl::ConsumePrefix(&last, "aten__") ||
      absl::ConsumePrefix(&last, "xla__") ||
      absl::ConsumePrefix(&last, "prim__") ||
      (parts.size() > 1 && !absl::StrContains(last, "."))) {
    operation = std::string(last);
    parts.pop_back();
  }
  std::vector<std::string> layer;
  for (const std::string& part : parts) {
    std::string name = Unwrapped(part);
    if (!name.empty() && name != "backward" && name != "main") {
      layer.push_back(std::move(name));
    }
  }
  return {LayerPattern(absl::StrJoin(layer, "/")), Kind(operation, op)};
}

}  // namespace ptxla::reports
