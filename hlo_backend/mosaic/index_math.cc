#include "hlo_backend/mosaic/index_math.h"

#include <algorithm>
#include <string>

#include "absl/container/flat_hash_map.h"

namespace ptxla::mosaic {
namespace {

using Number = std::optional<int64_t>;
using Binary = Number (*)(int64_t, int64_t);

// Wraps as 64-bit words do; results of 32 bits are cut to them afterwards.
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
Number Least(int64_t a, int64_t b) { return std::min(a, b); }
Number Most(int64_t a, int64_t b) { return std::max(a, b); }

// Of words of 32 bits, which is all that kernels compute with.
int64_t AsUnsigned(int64_t a) { return static_cast<uint32_t>(a); }
template <Binary kOperation>
Number Unsigned(int64_t a, int64_t b) {
  return kOperation(AsUnsigned(a), AsUnsigned(b));
}
// As the type holds it: constants of i32 may be written unsigned.
int64_t Cut(int64_t a, const Type& type) {
  if (type.name == "i1") return a & 1;
  return type.name == "i32" ? static_cast<int32_t>(a) : a;
}

const absl::flat_hash_map<std::string, Binary>& BinaryOperations() {
  static const auto& table = *new absl::flat_hash_map<std::string, Binary>{
      {"arith.addi", [](int64_t a, int64_t b) -> Number { return Add(a, b); }},
      {"arith.subi",
       [](int64_t a, int64_t b) -> Number { return Add(a, Multiply(b, -1)); }},
      {"arith.muli",
       [](int64_t a, int64_t b) -> Number { return Multiply(a, b); }},
      {"arith.divsi", Divide},
      {"arith.divui", Unsigned<Divide>},
      {"arith.floordivsi", FloorDivide},
      {"arith.ceildivsi",
       [](int64_t a, int64_t b) -> Number {
         const Number q = FloorDivide(Multiply(a, -1), b);
         return q ? Number(-*q) : q;
       }},
      {"arith.remsi", Remainder},
      {"arith.remui", Unsigned<Remainder>},
      {"arith.minsi", Least},
      {"arith.minui", Unsigned<Least>},
      {"arith.maxsi", Most},
      {"arith.maxui", Unsigned<Most>},
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
      {"arith.shrui",
       [](int64_t a, int64_t b) -> Number {
         if (b < 0 || b > 31) return std::nullopt;
         return AsUnsigned(a) >> b;
       }},
  };
  return table;
}

// In the order in which MLIR numbers the predicates of arith.cmpi.
bool Compare(int64_t predicate, int64_t a, int64_t b) {
  if (predicate > 5) {
    a = AsUnsigned(a);
    b = AsUnsigned(b);
  }
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

}  // namespace

bool IsCast(const std::string& name) {
  return name == "arith.index_cast" || name == "arith.index_castui" ||
         name == "arith.extsi" || name == "arith.extui" ||
         name == "arith.trunci" || name == "tpu.assume_multiple";
}

int IndexMath::ArrayOf(int value) const {
  const auto found = arrays_.find(value);
  return found == arrays_.end() ? value : found->second;
}

Number IndexMath::Address(const Operation& op, size_t array) const {
  const std::vector<int64_t>& dims = module_.values[op.operands[array]]->dims;
  if (op.operands.size() != array + 1 + dims.size()) return std::nullopt;
  int64_t at = 0;
  for (size_t d = 0; d < dims.size(); ++d) {
    const Number index = values_[op.operands[array + 1 + d]];
    if (!index || *index < 0 || *index >= dims[d]) return std::nullopt;
    at = Add(Multiply(at, dims[d]), *index);
  }
  return at;
}

void IndexMath::Run(const Operation& op) {
  if (op.name == "memref.store" && memory_ != nullptr &&
      op.operands.size() > 1) {
    memory_->Store(ArrayOf(op.operands[1]), Address(op, 1),
                   values_[op.operands[0]]);
  }
  if (op.results.size() != 1) return;
  const int result = op.results[0];
  const Type& type = *module_.values[result];
  if (type.kind != Type::Kind::kScalar) return;
  const auto operand = [&](size_t k) {
    return k < op.operands.size() ? values_[op.operands[k]] : Number();
  };
  // What an earlier time round left here is no longer true.
  values_[result] = std::nullopt;
  if (op.name == "arith.constant") {
    const Attribute* value = op.Find("value");
    if (value != nullptr && value->kind == Attribute::Kind::kInteger) {
      values_[result] = Cut(value->integer, type);
    }
    return;
  }
  if (op.name == "memref.load") {
    if (memory_ != nullptr && !op.operands.empty()) {
      values_[result] = memory_->Load(ArrayOf(op.operands[0]), Address(op, 0));
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
  if (op.name == "arith.ori" && type.name == "i1" &&
      ((a && *a == 1) || (b && *b == 1))) {
    values_[result] = 1;
    return;
  }
  if (!a) return;
  if (IsCast(op.name)) values_[result] = Cut(*a, type);
  if (!b) return;
  if (op.name == "arith.cmpi") {
    const Attribute* predicate = op.Find("predicate");
    if (predicate == nullptr) return;
    values_[result] = Compare(predicate->integer, *a, *b) ? 1 : 0;
    return;
  }
  const auto found = BinaryOperations().find(op.name);
  if (found == BinaryOperations().end()) return;
  const Number made = found->second(*a, *b);
  if (made) values_[result] = Cut(*made, type);
}

std::vector<Number> Call(const Module& module, const Operation& function,
                         const std::vector<Number>& arguments,
                         ScalarMemory* memory, const std::vector<int>& arrays) {
  if (function.regions.empty() || function.regions[0].blocks.empty()) return {};
  const Block& block = function.regions[0].blocks[0];
  IndexMath math(module, memory);
  for (size_t k = 0; k < block.arguments.size(); ++k) {
    math.Set(block.arguments[k],
             k < arguments.size() ? arguments[k] : Number());
    if (k < arrays.size()) math.SetArray(block.arguments[k], arrays[k]);
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
