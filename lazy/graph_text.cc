#include "lazy/graph_text.h"

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace ptxla::lazy {
namespace {

// The shortest decimal text that reads back as the same number.
std::string NumberText(double value) {
  std::string text;
  for (int digits : {6, 15, 16, 17}) {
    text = absl::StrFormat("%.*g", digits, value);
    double back;
    if (absl::SimpleAtod(text, &back) && back == value) break;
  }
  return text;
}

std::string List(const DimVector& dims) {
  return absl::StrCat("{", absl::StrJoin(dims, ","), "}");
}

struct AttributePrinter {
  std::string* out;
  int parameter = -1;  // of a leaf
  bool donated = false;

  void operator()(std::monostate) const {}
  void operator()(const DataAttrs& a) const {
    const DeviceData& data = *a.data;
    absl::StrAppend(out, ", data=", parameter);
    if (data.host_value.kind == HostValue::Kind::kConstant) {
      absl::StrAppend(out, ", value=", NumberText(data.host_value.a));
    }
    if (!data.label.empty()) {
      absl::StrAppend(out, ", label=\"", absl::CEscape(data.label), "\"");
    }
    if (data.read_only) absl::StrAppend(out, ", read_only");
    if (data.should_donate || donated) absl::StrAppend(out, ", donate");
  }
  void operator()(const ConstantAttrs& a) const {
    absl::StrAppend(out, ", value=", NumberText(a.value));
  }
  void operator()(const DimsAttrs& a) const {
    absl::StrAppend(out, ", dims=", List(a.dims));
    if (a.keepdim) absl::StrAppend(out, ", keepdim");
  }
  void operator()(const SliceAttrs& a) const {
    absl::StrAppend(out, ", starts=", List(a.starts));
    if (!a.limits.empty()) absl::StrAppend(out, ", limits=", List(a.limits));
  }
  void operator()(const BatchNormAttrs& a) const {
    absl::StrAppend(out, ", eps=", NumberText(a.epsilon));
    if (a.feature != 1) absl::StrAppend(out, ", feature=", a.feature);
    if (!a.training) absl::StrAppend(out, ", inference");
  }
  void operator()(const WindowAttrs& a) const {
    absl::StrAppend(out, ", window=", List(a.sizes),
                    ", strides=", List(a.strides),
                    ", padding=", List(a.padding));
  }
  void operator()(const NllLossAttrs& a) const {
    absl::StrAppend(out, ", ignore_index=", a.ignore_index);
  }
  void operator()(const CollectiveAttrs& a) const {
    absl::StrAppend(out, ", groups={");
    for (size_t i = 0; i < a.groups.size(); ++i) {
      absl::StrAppend(out, i ? "," : "", "{", absl::StrJoin(a.groups[i], ","),
                      "}");
    }
    absl::StrAppend(out, "}, scale=", NumberText(a.scale));
    if (a.pin_layout) absl::StrAppend(out, ", pin_layout");
  }
};

void AppendShape(const Node& node, std::string* out) {
  if (node.num_outputs() == 1) {
    *out += node.shape().ToString();
    return;
  }
  for (int i = 0; i < node.num_outputs(); ++i) {
    absl::StrAppend(out, i ? ", " : "(", node.shape(i).ToString());
  }
  *out += ')';
}

void AppendOutput(int number, int index, std::string* out) {
  absl::StrAppend(out, number);
  if (index != 0) absl::StrAppend(out, ".", index);
}

void AppendOrigin(const Origin& origin, std::string* out) {
  if (origin.scope) {
    absl::StrAppend(out, ", scope=\"", absl::CEscape(*origin.scope), "\"");
  }
  if (origin.file) {
    absl::StrAppend(out, ", at=\"", absl::CEscape(origin.file), ":",
                    origin.line, "\"");
  }
  if (origin.backward) absl::StrAppend(out, ", backward");
}

}  // namespace

std::vector<int> MarkedDonors(const Graph& graph) {
  std::vector<int> donors;
  for (size_t i = 0; i < graph.parameters.size(); ++i) {
    if (graph.parameters[i]->should_donate) {
      donors.push_back(static_cast<int>(i));
    }
  }
  return donors;
}

std::string PrintGraph(const Graph& graph, absl::Span<const int> donors) {
  std::vector<bool> donated(graph.parameters.size(), false);
  for (int donor : donors) donated[donor] = true;
  const NodeNumbers number(graph);
  absl::flat_hash_map<const Node*, std::vector<int>> roots;
  for (size_t i = 0; i < graph.roots.size(); ++i) {
    roots[graph.roots[i].node.get()].push_back(static_cast<int>(i));
  }
  std::string out = "IR {\n";
  size_t leaf = 0;
  for (const Node* node : graph.nodes) {
    absl::StrAppend(&out, "  %", number[node], " = ");
    AppendShape(*node, &out);
    absl::StrAppend(&out, " ", OpName(node->kind()), "(");
    for (size_t i = 0; i < node->operands().size(); ++i) {
      const Value& operand = node->operands()[i];
      absl::StrAppend(&out, i ? ", %" : "%");
      AppendOutput(number[operand.node.get()], operand.index, &out);
    }
    out += ')';
    AttributePrinter printer{&out};
    if (node->kind() == OpKind::kDeviceData) {
      printer.parameter = graph.parameter_sequence[leaf++];
      printer.donated = donated[printer.parameter];
    }
    std::visit(printer, node->attributes());
    AppendOrigin(node->origin(), &out);
    if (auto it = roots.find(node); it != roots.end()) {
      for (int root : it->second) {
        absl::StrAppend(&out, ", ROOT=");
        AppendOutput(root, graph.roots[root].index, &out);
      }
    }
    out += '\n';
  }
  out += "}\n";
  return out;
}

}  // namespace ptxla::lazy
