#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/status.h"
#include "lazy/check_node.h"
#include "lazy/graph_text.h"

namespace ptxla::lazy {
namespace {

using absl::InvalidArgumentError;
using Attributes = absl::flat_hash_map<std::string, std::string>;

// Splits at top-level ", " outside of quotes, braces and parentheses.
std::vector<absl::string_view> SplitTopLevel(absl::string_view text) {
  std::vector<absl::string_view> parts;
  int depth = 0;
  bool quoted = false;
  size_t start = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '(' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ')' || c == ']') {
      --depth;
    } else if (c == ',' && depth == 0) {
      parts.push_back(
          absl::StripAsciiWhitespace(text.substr(start, i - start)));
      start = i + 1;
    }
  }
  const auto last = absl::StripAsciiWhitespace(text.substr(start));
  if (!last.empty()) parts.push_back(last);
  return parts;
}

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
  absl::StatusOr<DimVector> Dims(const std::string& key);
  absl::StatusOr<double> Number(const std::string& key);
  absl::StatusOr<int64_t> Integer(const std::string& key);
  absl::StatusOr<std::string> Text(const std::string& key);
  bool Flag(const std::string& key) { return attributes_.contains(key); }

  std::vector<NodePtr> nodes_;
  std::vector<Value> roots_;
  absl::flat_hash_map<int64_t, DeviceDataPtr> data_;
  Attributes attributes_;  // of the line being read
  std::unique_ptr<absl::node_hash_set<std::string>> strings_ =
      std::make_unique<absl::node_hash_set<std::string>>();
};

absl::StatusOr<DimVector> Parser::Dims(const std::string& key) {
  const auto it = attributes_.find(key);
  if (it == attributes_.end()) {
    return InvalidArgumentError(absl::StrCat("attribute ", key, " is missing"));
  }
  absl::string_view text = it->second;
  if (!absl::ConsumePrefix(&text, "{") || !absl::ConsumeSuffix(&text, "}")) {
    return InvalidArgumentError(absl::StrCat(key, ": expected {...}"));
  }
  DimVector dims;
  for (absl::string_view part : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    int64_t d;
    if (!absl::SimpleAtoi(part, &d)) {
      return InvalidArgumentError(absl::StrCat(key, ": bad number ", part));
    }
    dims.push_back(d);
  }
  return dims;
}

absl::StatusOr<double> Parser::Number(const std::string& key) {
  const auto it = attributes_.find(key);
  double value;
  if (it == attributes_.end() || !absl::SimpleAtod(it->second, &value)) {
    return InvalidArgumentError(
        absl::StrCat("attribute ", key, " must be a number"));
  }
  return value;
}

absl::StatusOr<int64_t> Parser::Integer(const std::string& key) {
  const auto it = attributes_.find(key);
  int64_t value;
  if (it == attributes_.end() || !absl::SimpleAtoi(it->second, &value)) {
    return InvalidArgumentError(
        absl::StrCat("attribute ", key, " must be an integer"));
  }
  return value;
}

absl::StatusOr<std::string> Parser::Text(const std::string& key) {
  const auto it = attributes_.find(key);
  if (it == attributes_.end()) return std::string();
  absl::string_view quoted = it->second;
  std::string text;
  if (!absl::ConsumePrefix(&quoted, "\"") ||
      !absl::ConsumeSuffix(&quoted, "\"") || !absl::CUnescape(quoted, &text)) {
    return InvalidArgumentError(absl::StrCat(key, ": expected \"...\""));
  }
  return text;
}

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
  ASSIGN_OR_RETURN(const int64_t index, Integer("data"));
  DeviceDataPtr& data = data_[index];
  if (!data) {
    data = std::make_shared<DeviceData>(index, shape);
    ASSIGN_OR_RETURN(data->label, Text("label"));
    data->read_only = Flag("read_only");
    data->should_donate = Flag("donate");
    if (Flag("value")) {
      ASSIGN_OR_RETURN(const double value, Number("value"));
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
    ASSIGN_OR_RETURN(const double value, Number("value"));
    return ConstantAttrs{value};
  }
  if (Flag("dims")) {
    ASSIGN_OR_RETURN(DimVector dims, Dims("dims"));
    return DimsAttrs{std::move(dims), Flag("keepdim")};
  }
  if (Flag("starts")) {
    SliceAttrs slice;
    ASSIGN_OR_RETURN(slice.starts, Dims("starts"));
    if (Flag("limits")) {
      ASSIGN_OR_RETURN(slice.limits, Dims("limits"));
    }
    return slice;
  }
  if (Flag("eps")) {
    ASSIGN_OR_RETURN(const double epsilon, Number("eps"));
    int64_t feature = 1;
    if (Flag("feature")) {
      ASSIGN_OR_RETURN(feature, Integer("feature"));
    }
    return BatchNormAttrs{epsilon, feature, !Flag("inference")};
  }
  if (Flag("window")) {
    WindowAttrs window;
    ASSIGN_OR_RETURN(window.sizes, Dims("window"));
    ASSIGN_OR_RETURN(window.strides, Dims("strides"));
    ASSIGN_OR_RETURN(window.padding, Dims("padding"));
    return window;
  }
  if (Flag("ignore_index")) {
    ASSIGN_OR_RETURN(const int64_t index, Integer("ignore_index"));
    return NllLossAttrs{index};
  }
  if (!Flag("groups")) return NodeAttrs();
  CollectiveAttrs collective;
  ASSIGN_OR_RETURN(collective.scale, Number("scale"));
  collective.pin_layout = Flag("pin_layout");
  absl::string_view groups = attributes_["groups"];
  absl::ConsumePrefix(&groups, "{");
  absl::ConsumeSuffix(&groups, "}");
  for (absl::string_view group : SplitTopLevel(groups)) {
    attributes_["group"] = std::string(group);
    ASSIGN_OR_RETURN(const DimVector members, Dims("group"));
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
  origin.backward = Flag("backward");
  if (Flag("scope")) {
    ASSIGN_OR_RETURN(std::string scope, Text("scope"));
    origin.scope = &*strings_->insert(std::move(scope)).first;
  }
  if (Flag("at")) {
    ASSIGN_OR_RETURN(const std::string place, Text("at"));
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
  attributes_.clear();
  std::vector<std::string> roots;
  for (absl::string_view part : SplitTopLevel(line.substr(close + 1))) {
    const std::pair<std::string, std::string> item =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    if (item.first == "ROOT") {
      roots.push_back(item.second);
    } else {
      attributes_.insert(item);
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
