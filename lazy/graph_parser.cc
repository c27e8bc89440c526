#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/status.h"
#include "lazy/check_node.h"
#include "lazy/graph_text.h"
#include "lazy/line_attributes.h"

namespace ptxla::lazy {
namespace {

using absl::InvalidArgumentError;

// "5.1" -> (5, 1); "5" -> (5, 0).
absl::StatusOr<std::pair<int, int>> ParseOutput(absl::string_view text) {
  std::pair<int, int> result = {0, 0};
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits('.', 1));
  if (!absl::SimpleAtoi(parts.first, &result.first) || result.first < 0 ||
      (absl::StrContains(text, '.') &&
       (!absl::SimpleAtoi(parts.second, &result.second) ||
        result.second < 0))) {
    return InvalidArgumentError(
        absl::StrCat("expected a node or root number, got \"", text, "\""));
  }
  return result;
}

class Parser {
 public:
  absl::StatusOr<ParsedGraph> Parse(absl::string_view text);

 private:
  absl::Status ParseLine(absl::string_view line);
  absl::StatusOr<std::vector<TensorShape>> ParseShapes(absl::string_view text);
  absl::StatusOr<Node::Operands> ParseOperands(absl::string_view text);
  absl::StatusOr<NodeAttrs> MakeAttrs(OpKind kind, const TensorShape& shape);
  absl::StatusOr<NodeAttrs> MakeData(const TensorShape& shape);
  absl::StatusOr<Origin> MakeOrigin();

  std::vector<NodePtr> nodes_;
  std::vector<Value> roots_;
  absl::flat_hash_map<int64_t, DeviceDataPtr> data_;
  LineAttributes line_;  // of the line being read
  std::unique_ptr<absl::node_hash_set<std::string>> strings_ =
      std::make_unique<absl::node_hash_set<std::string>>();
};

absl::StatusOr<std::vector<TensorShape>> Parser::ParseShapes(
    absl::string_view text) {
  std::vector<TensorShape> shapes;
  if (absl::ConsumePrefix(&text, "(")) absl::ConsumeSuffix(&text, ")");
  for (absl::string_view part : SplitTopLevel(text)) {
    ASSIGN_OR_RETURN(TensorShape shape, TensorShape::Parse(part));
    shapes.push_back(std::move(shape));
  }
  if (shapes.empty()) return InvalidArgumentError("expected a shape");
  return shapes;
}

absl::StatusOr<Node::Operands> Parser::ParseOperands(absl::string_view text) {
  Node::Operands operands;
  for (absl::string_view part : SplitTopLevel(text)) {
    if (!absl::ConsumePrefix(&part, "%")) {
      return InvalidArgumentError(
          absl::StrCat("expected an operand like %3, got \"", part, "\""));
    }
    ASSIGN_OR_RETURN(const auto output, ParseOutput(part));
    if (output.first >= static_cast<int>(nodes_.size()) ||
        output.second >= nodes_[output.first]->num_outputs()) {
      return InvalidArgumentError(
          absl::StrCat("operand %", part, " is not defined above"));
    }
    operands.push_back({nodes_[output.first], output.second});
  }
  return operands;
}

absl::StatusOr<NodeAttrs> Parser::MakeData(const TensorShape& shape) {
  ASSIGN_OR_RETURN(const int64_t index, line_.Integer("data"));
  DeviceDataPtr& data = data_[index];
  if (!data) {
    data = std::make_shared<DeviceData>(index, shape);
    ASSIGN_OR_RETURN(data->label, line_.Text("label"));
    data->read_only = line_.Has("read_only");
    data->should_donate = line_.Has("donate");
    if (line_.Has("value")) {
      ASSIGN_OR_RETURN(const double value, line_.Number("value"));
      data->host_value = HostValue::Constant(value);
    }
  }
  if (data->shape() != shape) {
    return InvalidArgumentError(
        absl::StrCat("data=", index, " has another shape above"));
  }
  return DataAttrs{data};
}

absl::StatusOr<NodeAttrs> Parser::MakeAttrs(OpKind kind,
                                            const TensorShape& shape) {
  if (kind == OpKind::kDeviceData) return MakeData(shape);
  if (kind == OpKind::kConstant || kind == OpKind::kMovingAverage) {
    ASSIGN_OR_RETURN(const double value, line_.Number("value"));
    return ConstantAttrs{value};
  }
  if (line_.Has("dims")) {
    ASSIGN_OR_RETURN(DimVector dims, line_.Dims("dims"));
    return DimsAttrs{std::move(dims), line_.Has("keepdim")};
  }
  if (line_.Has("starts")) {
    SliceAttrs slice;
    ASSIGN_OR_RETURN(slice.starts, line_.Dims("starts"));
    if (line_.Has("limits")) {
      ASSIGN_OR_RETURN(slice.limits, line_.Dims("limits"));
    }
    return slice;
  }
  if (line_.Has("eps")) {
    ASSIGN_OR_RETURN(const double epsilon, line_.Number("eps"));
    int64_t feature = 1;
    if (line_.Has("feature")) {
      ASSIGN_OR_RETURN(feature, line_.Integer("feature"));
    }
    return BatchNormAttrs{epsilon, feature, !line_.Has("inference")};
  }
  if (line_.Has("window")) {
    WindowAttrs window;
    ASSIGN_OR_RETURN(window.sizes, line_.Dims("window"));
    ASSIGN_OR_RETURN(window.strides, line_.Dims("strides"));
    ASSIGN_OR_RETURN(window.padding, line_.Dims("padding"));
    return window;
  }
  if (line_.Has("ignore_index")) {
    ASSIGN_OR_RETURN(const int64_t index, line_.Integer("ignore_index"));
    return NllLossAttrs{index};
  }
  if (!line_.Has("groups")) return NodeAttrs();
  CollectiveAttrs collective;
  ASSIGN_OR_RETURN(collective.scale, line_.Number("scale"));
  collective.pin_layout = line_.Has("pin_layout");
  ASSIGN_OR_RETURN(const std::vector<DimVector> groups, line_.Lists("groups"));
  for (const DimVector& members : groups) {
    for (int64_t member : members) {
      if (member < 0 || member >= (1 << 24)) {
        return InvalidArgumentError("groups: a replica number is out of range");
      }
    }
    collective.groups.emplace_back(members.begin(), members.end());
  }
  return collective;
}

absl::StatusOr<Origin> Parser::MakeOrigin() {
  Origin origin;
  origin.backward = line_.Has("backward");
  if (line_.Has("scope")) {
    ASSIGN_OR_RETURN(std::string scope, line_.Text("scope"));
    origin.scope = &*strings_->insert(std::move(scope)).first;
  }
  if (line_.Has("at")) {
    ASSIGN_OR_RETURN(const std::string place, line_.Text("at"));
    const size_t colon = place.rfind(':');
    if (colon == std::string::npos ||
        !absl::SimpleAtoi(place.substr(colon + 1), &origin.line)) {
      return InvalidArgumentError("at: expected \"file:line\"");
    }
    origin.file = strings_->insert(place.substr(0, colon)).first->c_str();
  }
  return origin;
}

absl::Status Parser::ParseLine(absl::string_view line) {
  const size_t equals = line.find(" = ");
  if (equals == absl::string_view::npos ||
      line.substr(0, equals) != absl::StrCat("%", nodes_.size())) {
    return InvalidArgumentError(
        absl::StrCat("expected \"%", nodes_.size(), " = ...\""));
  }
  line.remove_prefix(equals + 3);
  const size_t name_at = line.find("::");
  const size_t open =
      name_at == absl::string_view::npos ? name_at : line.find('(', name_at);
  const size_t close =
      open == absl::string_view::npos ? open : line.find(')', open);
  const size_t space =
      close == absl::string_view::npos ? close : line.rfind(' ', name_at);
  if (space == absl::string_view::npos) {
    return InvalidArgumentError("expected shape op(operands)");
  }
  const auto name = line.substr(space + 1, open - space - 1);
  const std::optional<OpKind> kind = OpKindFromName(name);
  if (!kind) {
    return InvalidArgumentError(
        absl::StrCat("unknown operation \"", name, "\""));
  }
  ASSIGN_OR_RETURN(std::vector<TensorShape> shapes,
                   ParseShapes(line.substr(0, space)));
  ASSIGN_OR_RETURN(Node::Operands operands,
                   ParseOperands(line.substr(open + 1, close - open - 1)));
  line_ = LineAttributes();
  std::vector<std::string> roots;
  for (absl::string_view part : SplitTopLevel(line.substr(close + 1))) {
    const std::pair<std::string, std::string> item =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    if (item.first == "ROOT") {
      roots.push_back(item.second);
    } else {
      line_.Add(item.first, item.second);
    }
  }
  ASSIGN_OR_RETURN(NodeAttrs attrs, MakeAttrs(*kind, shapes[0]));
  ASSIGN_OR_RETURN(const Origin origin, MakeOrigin());
  NodePtr node(new Node(*kind, std::move(operands), std::move(shapes),
                        std::move(attrs), origin));
  RETURN_IF_ERROR(CheckNode(*node));
  nodes_.push_back(node);
  for (const std::string& root : roots) {
    ASSIGN_OR_RETURN(const auto output, ParseOutput(root));
    if (output.second >= node->num_outputs()) {
      return InvalidArgumentError("ROOT names an output that is not there");
    }
    if (output.first >= (1 << 24)) {
      return InvalidArgumentError("ROOT number out of range");
    }
    if (output.first >= static_cast<int>(roots_.size())) {
      roots_.resize(output.first + 1);
    }
    roots_[output.first] = {node, output.second};
  }
  return absl::OkStatus();
}

absl::StatusOr<ParsedGraph> Parser::Parse(absl::string_view text) {
  int number = 0;
  bool open = false, closed = false;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty()) continue;
    if (!open) {
      if (line != "IR {") {
        return InvalidArgumentError(
            absl::StrCat(number, ": expected \"IR {\""));
      }
      open = true;
    } else if (line == "}" && !closed) {
      closed = true;
    } else if (closed) {
      return InvalidArgumentError(
          absl::StrCat(number, ": text after the closing brace"));
    } else {
      RETURN_IF_ERROR(ParseLine(line)) << number;
    }
  }
  if (!closed) {
    return InvalidArgumentError(absl::StrCat(number, ": expected \"}\""));
  }
  for (size_t i = 0; i < roots_.size(); ++i) {
    if (!roots_[i]) {
      return InvalidArgumentError(absl::StrCat("ROOT=", i, " is missing"));
    }
  }
  ParsedGraph result;
  result.strings = std::move(strings_);
  result.graph = MakeGraph(std::move(roots_));
  return result;
}

}  // namespace

absl::StatusOr<ParsedGraph> ParseGraph(absl::string_view text) {
  return Parser().Parse(text);
}

}  // namespace ptxla::lazy
