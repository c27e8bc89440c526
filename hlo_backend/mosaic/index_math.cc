#include "hlo_backend/mosaic/index_math.h"

#include <algorithm>
#include <string>

#include "absl/container/flat_hash_map.h"

namespace ptxla::mosaic {
namespace {

using Number = std::optional<int64_t>;
using Binary = Number (*)(int64_t, int64_t);

// Wraps as 64-bit words do; kernels compute in 32 bits and stay far below.
int64_t Add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) +
                              static_cast<uint64_t>(b));
}
int64_t Multiply(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) *
                              static_cast<uint64_t>(b));
}
Number Divide(int64_t a, int64_t b) {
  if (b == 0 || (b == -1 && a == INT64_MIN)) return std::nullopt;
  return a / b;
}
Number Remainder(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return b == 0 ? Number() : Number(0);
  return a % b;
}
Number FloorDivide(int64_t a, int64_t b) {
  const Number q = Divide(a, b);
  if (!q) return q;
  return *q - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

const absl::flat_hash_map<std::string, Binary>& BinaryOperations() {
  static const auto& table = *new absl::flat_hash_map<std::string, Binary>{
      {"arith.addi", [](int64_t a, int64_t b) -> Number { return Add(a, b); }},
      {"arith.subi",
       [](int64_t a, int64_t b) -> Number { return Add(a, Multiply(b, -1)); }},
      {"arith.muli",
       [](int64_t a, int64_t b) -> Number { return Multiply(a, b); }},
      {"arith.divsi", Divide},
      {"arith.divui", Divide},
      {"arith.floordivsi", FloorDivide},
      {"arith.ceildivsi",
       [](int64_t a, int64_t b) -> Number {
         const Number q = FloorDivide(Multiply(a, -1), b);
         return q ? Number(-*q) : q;
       }},
      {"arith.remsi", Remainder},
      {"arith.remui", Remainder},
      {"arith.minsi",
       [](int64_t a, int64_t b) -> Number { return std::min(a, b); }},
      {"arith.minui",
       [](int64_t a, int64_t b) -> Number { return std::min(a, b); }},
      {"arith.maxsi",
       [](int64_t a, int64_t b) -> Number { return std::max(a, b); }},
      {"arith.maxui",
       [](int64_t a, int64_t b) -> Number { return std::max(a, b); }},
      {"arith.andi", [](int64_t a, int64_t b) -> Number { return a & b; }},
      {"arith.ori", [](int64_t a, int64_t b) -> Number { return a | b; }},
      {"arith.xori", [](int64_t a, int64_t b) -> Number { return a ^ b; }},
      {"arith.shli",
       [](int64_t a, int64_t b) -> Number {
         if (b < 0 || b > 62) return std::nullopt;
         return Multiply(a, int64_t{1} << b);
       }},
      {"arith.shrsi",
       [](int64_t a, int64_t b) -> Number {
         if (b < 0 || b > 63) return std::nullopt;
         return a >> b;
       }},
  };
  return table;
}

// In the order in which MLIR numbers the predicates of arith.cmpi.
bool Compare(int64_t predicate, int64_t a, int64_t b) {
  switch (predicate) {
    case 0:
      return a == b;
    case 1:
      return a != b;
    case 2:
    case 6:
      return a < b;
    case 3:
    case 7:
      return a <= b;
    case 4:
    case 8:
      return a > b;
    default:
      return a >= b;
  }
}

bool IsCast(const std::string& name) {
  return name == "arith.index_cast" || name == "arith.extsi" ||
         name == "arith.extui" || name == "arith.trunci" ||
         name == "tpu.assume_multiple";
}

}  // namespace

void IndexMath::Run(const Operation& op) {
  if (op.results.size() != 1) return;
  const int result = op.results[0];
  const auto operand = [&](size_t k) {
    return k < op.operands.size() ? values_[op.operands[k]] : Number();
  };
  if (op.name == "arith.constant") {
    const Attribute* value = op.Find("value");
    if (value != nullptr && value->kind == Attribute::Kind::kInteger) {
      values_[result] = value->integer;
    }
    return;
  }
  const Number a = operand(0), b = operand(1);
  if (op.name == "arith.select") {
    if (a) values_[result] = operand(*a != 0 ? 1 : 2);
    return;
  }
  // 0 and x is 0 whatever x is.
  if (op.name == "arith.andi" && ((a && *a == 0) || (b && *b == 0))) {
    values_[result] = 0;
    return;
  }
  if (!a) return;
  if (IsCast(op.name)) values_[result] = a;
  if (!b) return;
  if (op.name == "arith.cmpi") {
    const Attribute* predicate = op.Find("predicate");
    if (predicate == nullptr) return;
    values_[result] = Compare(predicate->integer, *a, *b) ? 1 : 0;
    return;
  }
  const auto found = BinaryOperations().find(op.name);
  if (found != BinaryOperations().end()) {
    values_[result] = found->second(*a, *b);
  }
}

std::vector<Number> Call(const Module& module, const Operation& function,
                         const std::vector<Number>& arguments) {
  if (function.regions.empty() || function.regions[0].blocks.empty()) return {};
  const Block& block = function.regions[0].blocks[0];
  IndexMath math(module);
  for (size_t k = 0; k < block.arguments.size(); ++k) {
    math.Set(block.arguments[k],
             k < arguments.size() ? arguments[k] : Number());
  }
  for (const Operation& op : block.operations) {
    if (op.name != "func.return") {
      math.Run(op);
      continue;
    }
    std::vector<Number> results;
    for (const int value : op.operands) results.push_back(math.Get(value));
    return results;
  }
  return {};
}

}  // namespace ptxla::mosaic
