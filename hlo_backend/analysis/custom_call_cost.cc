#include "hlo_backend/analysis/custom_call_cost.h"

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/check.h"
#include "embed/analysis_custom_calls.h"
#include "hlo_backend/ir/ragged_call.h"

namespace ptxla::hlo {
namespace {

struct Rule {
  std::string kind;
  double number = 0;
};
using Rules = absl::flat_hash_map<std::string, Rule>;

const Rules& AllRules() {
  static const Rules& rules = *[] {
    auto* r = new Rules;
    for (absl::string_view line :
         absl::StrSplit(kCustomCalls[0].text, '\n', absl::SkipEmpty())) {
      if (line[0] == '#') continue;
      const std::vector<std::string> words =
          absl::StrSplit(line, ' ', absl::SkipEmpty());
      CHECK_GE(words.size(), 2u) << line;
      Rule rule{words[1], 0};
      if (words.size() > 2) CHECK(absl::SimpleAtod(words[2], &rule.number));
      r->emplace(words[0], rule);
    }
    return r;
  }();
  return rules;
}

// The number behind `"key":` in the text of a JSON object.
double Field(absl::string_view object, absl::string_view key) {
  const std::string quoted = "\"" + std::string(key) + "\"";
  size_t at = object.find(quoted);
  if (at == absl::string_view::npos) return 0;
  at = object.find_first_not_of(" :", at + quoted.size());
  if (at == absl::string_view::npos) return 0;
  const size_t end = object.find_first_not_of("0123456789.eE+-", at);
  double value = 0;
  if (!absl::SimpleAtod(object.substr(at, end - at), &value)) return 0;
  return value;
}

// {"flops": ..., "transcendentals": ..., "bytes_accessed": ...}.
std::optional<Cost> Estimate(absl::string_view config, double bytes,
                             double bytes_written) {
  const size_t key = config.find("\"cost_estimate\"");
  if (key == absl::string_view::npos) return std::nullopt;
  const size_t open = config.find('{', key);
  const size_t close = config.find('}', key);
  if (open == absl::string_view::npos || close < open) return std::nullopt;
  const absl::string_view object = config.substr(open, close - open);
  Cost cost;
  cost.flops = Field(object, "flops");
  cost.transcendentals = Field(object, "transcendentals");
  cost.bytes_accessed = Field(object, "bytes_accessed");
  if (cost.bytes_accessed == 0) cost.bytes_accessed = bytes;
  cost.bytes_written = bytes_written;
  return cost;
}

const Shape& FirstArray(const Shape& shape) {
  return shape.IsTuple() && shape.element_count_of_tuple() > 0
             ? FirstArray(shape.element(0))
             : shape;
}

double ElementsOf(const Shape& shape) {
  return shape.IsArray() ? static_cast<double>(shape.ElementCount()) : 0;
}

constexpr char kPallas[] = "pallas:";

// By its target; a Pallas kernel by the longest name that its own holds.
const Rule* RuleOf(const Instruction& call) {
  const std::string& target = call.attrs<CustomCallAttrs>().target;
  auto found = AllRules().find(target);
  if (found != AllRules().end()) return &found->second;
  if (target != "tpu_custom_call") return nullptr;
  const Rule* best = nullptr;
  size_t length = 0;
  for (const auto& [key, rule] : AllRules()) {
    absl::string_view name = key;
    if (!absl::ConsumePrefix(&name, kPallas) || name.size() <= length) continue;
    if (absl::StrContains(call.name(), name) ||
        absl::StrContains(call.metadata().op_name, name)) {
      best = &rule;
      length = name.size();
    }
  }
  return best;
}

// Queries [..., n, d] and keys [..., m, d].
// `sequence`: of the dimensions before the last, which one counts keys.
// `times`: a backward pass does two and a half times a forward's work.
void AddAttention(const Instruction& call, int sequence, double times,
                  Cost* cost) {
  const Shape *queries = nullptr, *keys = nullptr;
  for (const Instruction* o : call.operands()) {
    const Shape& s = o->shape();
    if (!s.IsArray() || s.rank() < 3 || !IsFloat(s.type())) continue;
    if (queries == nullptr) {
      queries = &s;
    } else if (keys == nullptr) {
      keys = &s;
    }
  }
  if (keys == nullptr) return;
  const double pairs = ElementsOf(*queries) /
                       static_cast<double>(queries->dim(queries->rank() - 1)) *
                       static_cast<double>(keys->dim(keys->rank() - sequence));
  cost->transcendentals = pairs;
  cost->matmul_flops = 4 * times * pairs *
                       static_cast<double>(queries->dim(queries->rank() - 1));
  cost->flops = cost->matmul_flops;
}

}  // namespace

std::optional<Cost> CustomCallCost(const Instruction& call, double bytes_read,
                                   double bytes_written) {
  const double bytes = bytes_read + bytes_written;
  if (auto cost = Estimate(call.backend_config(), bytes, bytes_written)) {
    return cost;
  }
  if (const auto ragged = RaggedCall::Of(call)) {
    Cost cost;
    cost.matmul_flops = 2 * ragged->MultiplyAdds();
    cost.flops = cost.matmul_flops;
    cost.bytes_accessed = bytes;
    cost.bytes_written = bytes_written;
    return cost;
  }
  const Rule* known = RuleOf(call);
  if (known == nullptr) return std::nullopt;
  const Rule& rule = *known;
  Cost cost;
  if (rule.kind == "free") return cost;
  cost.bytes_accessed = bytes;
  cost.bytes_written = bytes_written;
  const Shape& result = FirstArray(call.shape());
  const Shape* operand = call.operand_count() > 0
                             ? &FirstArray(call.operand(0)->shape())
                             : nullptr;
  if (rule.kind == "elementwise") {
    cost.transcendentals = rule.number * ElementsOf(result);
  } else if (rule.kind == "attention") {
    AddAttention(call, 2, 1, &cost);
  } else if (rule.kind == "attention_bshd") {
    AddAttention(call, 3, rule.number, &cost);
  } else if (rule.kind == "top_k" && operand != nullptr) {
    double doublings = 1;
    const double k = result.rank() > 0
                         ? static_cast<double>(result.dim(result.rank() - 1))
                         : 1;
    for (double power = 2; power < k; power *= 2) ++doublings;
    cost.flops = ElementsOf(*operand) * doublings;
  } else if (rule.kind == "cubic" && operand != nullptr &&
             operand->rank() >= 2) {
    const double n = static_cast<double>(operand->dim(operand->rank() - 1));
    cost.flops = rule.number * ElementsOf(*operand) * n;
  }
  return cost;
}

bool IsForeignAttention(const Instruction& i) {
  const auto* call = i.attrs_if<CustomCallAttrs>();
  if (call == nullptr) return false;
  const auto found = AllRules().find(call->target);
  return found != AllRules().end() && found->second.kind == "attention_bshd";
}

bool MovesToHost(const Instruction& i) {
  const auto* call = i.attrs_if<CustomCallAttrs>();
  if (call == nullptr || i.operand_count() != 1) return false;
  if (call->target == "MoveToHost") return true;
  if (call->target != "annotate_device_placement") return false;
  for (const auto& [key, value] : i.frontend_attributes()) {
    if (key == "_xla_buffer_placement" && absl::StrContains(value, "host")) {
      return true;
    }
  }
  return false;
}

bool IsFreeCustomCall(absl::string_view target) {
  auto found = AllRules().find(target);
  return found != AllRules().end() && found->second.kind == "free";
}

}  // namespace ptxla::hlo
