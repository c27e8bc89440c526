#include "hlo_backend/analysis/trip_count.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "hlo_backend/analysis/counted_loop.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {
namespace {

// "known_trip_count":{"n":"5"} in the JSON of a backend config; the number may
// stand without quotes.
std::optional<int64_t> KnownTripCount(absl::string_view config) {
  const size_t key = config.find("known_trip_count");
  if (key == absl::string_view::npos) return std::nullopt;
  const absl::string_view rest = config.substr(key);
  const size_t n = rest.find("\"n\"");
  if (n == absl::string_view::npos) return std::nullopt;
  size_t begin = n + 3;
  while (begin < rest.size() &&
         (rest[begin] == ':' || rest[begin] == '"' || rest[begin] == ' ')) {
    ++begin;
  }
  size_t end = begin;
  while (end < rest.size() && rest[end] >= '0' && rest[end] <= '9') ++end;
  int64_t count;
  if (!absl::SimpleAtoi(rest.substr(begin, end - begin), &count)) {
    return std::nullopt;
  }
  return count;
}

// The value itself, whatever it is wrapped in: copies, barriers, bitcasts of a
// scalar, converts to wider integers, elements of a tuple that is put together.
const Instruction* Strip(const Instruction* i) {
  for (;;) {
    switch (i->opcode()) {
      case Opcode::kCopy:
      case Opcode::kBitcast:
      case Opcode::kReshape:
      case Opcode::kOptimizationBarrier:
        i = i->operand(0);
        continue;
      case Opcode::kConvert: {
        const PrimitiveType from = i->operand(0)->shape().type();
        if (!IsInteger(from) || !IsInteger(i->shape().type()) ||
            BitWidth(i->shape().type()) < BitWidth(from)) {
          return i;
        }
        i = i->operand(0);
        continue;
      }
      case Opcode::kGetTupleElement: {
        const Instruction* tuple = Strip(i->operand(0));
        if (tuple->opcode() != Opcode::kTuple) return i;
        i = tuple->operand(static_cast<int>(i->tuple_index()));
        continue;
      }
      default:
        return i;
    }
  }
}

std::optional<int64_t> ConstantInt(const Instruction* i) {
  i = Strip(i);
  if (i->opcode() != Opcode::kConstant || !IsInteger(i->shape().type()) ||
      !i->shape().IsScalar() || i->literal().IsElided()) {
    return std::nullopt;
  }
  return i->literal().GetInt(0);
}

// The value behind a parameter of a fusion or call is its operand.
struct Expression {
  const Instruction* value;
  // Calls entered, outermost first: parameters are looked up in the last.
  std::vector<const Instruction*> calls;
};

// An element of the tuple that a fusion or call gives.
bool EntersTuple(const Expression& e) {
  const Instruction* call = Strip(e.value->operand(0));
  return (call->opcode() == Opcode::kFusion ||
          call->opcode() == Opcode::kCall) &&
         call->to_apply()->root()->opcode() == Opcode::kTuple;
}

// Enters fusions and calls, and leaves them again at parameters.
Expression Resolve(Expression e) {
  for (;;) {
    e.value = Strip(e.value);
    const Opcode op = e.value->opcode();
    if (op == Opcode::kFusion || op == Opcode::kCall) {
      e.calls.push_back(e.value);
      e.value = e.value->to_apply()->root();
    } else if (op == Opcode::kParameter && !e.calls.empty()) {
      const int n = static_cast<int>(e.value->parameter_number());
      e.value = e.calls.back()->operand(n);
      e.calls.pop_back();
    } else if (op == Opcode::kGetTupleElement && EntersTuple(e)) {
      // One of the results of a fusion or call.
      const Instruction* call = Strip(e.value->operand(0));
      const int n = static_cast<int>(e.value->tuple_index());
      e.calls.push_back(call);
      e.value = call->to_apply()->root()->operand(n);
    } else {
      return e;
    }
  }
}

Expression OperandOf(const Expression& e, int n) {
  return Resolve({e.value->operand(n), e.calls});
}

// Index of the state element that the expression is, or -1.
int64_t StateElement(const Expression& e) {
  // A state that is one scalar is element 0.
  if (e.value->opcode() == Opcode::kParameter && e.calls.empty() &&
      e.value->shape().IsScalar()) {
    return 0;
  }
  if (e.value->opcode() != Opcode::kGetTupleElement) return -1;
  const Expression tuple = OperandOf(e, 0);
  if (tuple.value->opcode() != Opcode::kParameter || !tuple.calls.empty()) {
    return -1;
  }
  return e.value->tuple_index();
}

std::optional<int64_t> ConstantOf(const Expression& e) {
  return ConstantInt(e.value);
}

// How often `i = init; i < limit; i += step` runs, for each comparison.
std::optional<int64_t> Count(CompareDirection direction, int64_t init,
                             int64_t limit, int64_t step) {
  if (step == 0) return std::nullopt;
  const double distance =
      static_cast<double>(limit) - static_cast<double>(init);
  if (distance > 4e18 || distance < -4e18) return std::nullopt;
  int64_t range = limit - init;
  switch (direction) {
    case CompareDirection::kLe:
      ++range;
      [[fallthrough]];
    case CompareDirection::kLt:
      if (range <= 0) return 0;
      if (step < 0) return std::nullopt;
      return (range + step - 1) / step;
    case CompareDirection::kGe:
      --range;
      [[fallthrough]];
    case CompareDirection::kGt:
      if (range >= 0) return 0;
      if (step > 0) return std::nullopt;
      return (range + step + 1) / step;
    case CompareDirection::kNe:
      if (range % step != 0 || range / step < 0) return std::nullopt;
      return range / step;
    default:
      return std::nullopt;
  }
}

// Constant value of element `index` of the initial state.
std::optional<int64_t> InitialValue(const Instruction& loop, int64_t index) {
  const Instruction* init = Strip(loop.operand(0));
  if (loop.shape().IsScalar()) return ConstantOf(Resolve({init, {}}));
  if (init->opcode() != Opcode::kTuple) return std::nullopt;
  return ConstantOf(Resolve({init->operand(static_cast<int>(index)), {}}));
}

std::optional<TripCount> ByInductionVariable(const Instruction& loop) {
  TripCount result;
  if (const auto known = KnownTripCount(loop.backend_config())) {
    result.count = *known;
    result.reason = "known_trip_count";
  }
  const bool is_known = !result.reason.empty();
  const std::optional<TripCount> fallback =
      is_known ? std::optional<TripCount>(result) : std::nullopt;

  const Expression root = Resolve({loop.while_condition()->root(), {}});
  if (root.value->opcode() != Opcode::kCompare) return fallback;
  CompareDirection direction = root.value->attrs<CompareAttrs>().direction;
  Expression variable = OperandOf(root, 0), bound = OperandOf(root, 1);
  int64_t index = StateElement(variable);
  std::optional<int64_t> limit = ConstantOf(bound);
  if (index < 0 || !limit) {
    std::swap(variable, bound);
    direction = Swapped(direction);
    index = StateElement(variable);
    limit = ConstantOf(bound);
  }
  // The bound may be part of the state, as long as the body hands it on.
  const Expression body_root = Resolve({loop.while_body()->root(), {}});
  const bool scalar = loop.shape().IsScalar();
  if (!scalar && body_root.value->opcode() != Opcode::kTuple) return fallback;
  const auto next_of = [&](int64_t n) {
    return scalar ? body_root : OperandOf(body_root, static_cast<int>(n));
  };
  if (!limit) {
    int64_t bound_index = StateElement(bound);
    if (index < 0 || bound_index < 0) return fallback;
    auto handed_on = [&](int64_t n) { return StateElement(next_of(n)) == n; };
    if (!handed_on(bound_index)) {
      if (!handed_on(index)) return fallback;
      std::swap(index, bound_index);
      direction = Swapped(direction);
    }
    limit = InitialValue(loop, bound_index);
    if (!limit) return fallback;
  }
  if (index < 0) return fallback;

  const auto init = InitialValue(loop, index);
  if (!init) return fallback;
  const Expression next = next_of(index);
  const Opcode op = next.value->opcode();
  if (op != Opcode::kAdd && op != Opcode::kSubtract) return fallback;
  Expression a = OperandOf(next, 0), b = OperandOf(next, 1);
  if (op == Opcode::kAdd && StateElement(a) != index) std::swap(a, b);
  auto step = ConstantOf(b);
  if (StateElement(a) != index || !step) return fallback;
  if (op == Opcode::kSubtract) step = -*step;

  const auto count = Count(direction, *init, *limit, *step);
  if (!is_known && !count) return std::nullopt;
  result.induction_index = index;
  result.init = *init;
  result.step = *step;
  if (!is_known) {
    result.count = *count;
    result.reason = absl::StrCat("induction variable ", index, " from ", *init,
                                 " to ", *limit, " by ", *step);
  }
  return result;
}

}  // namespace

std::optional<TripCount> TripCountOf(const Instruction& loop) {
  std::optional<TripCount> trips = ByInductionVariable(loop);
  if (trips.has_value()) return trips;
  const std::optional<int64_t> count = CountByRunning(loop);
  if (!count.has_value()) return {};
  trips.emplace();
  trips->count = *count;
  trips->reason = "counted: its condition depends on constants alone";
  return trips;
}

}  // namespace ptxla::hlo
