#include "hlo_backend/mosaic/known_divisors.h"

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"

namespace ptxla::mosaic {
namespace {

using Numbers = absl::flat_hash_map<int, int64_t>;  // value -> all of it

// A scalar, or a dense vector of one number.
std::optional<int64_t> ConstantOf(const Operation& op) {
  const Attribute* value = op.Find("value");
  if (value == nullptr) return std::nullopt;
  if (value->kind == Attribute::Kind::kInteger) return value->integer;
  const Type* type = value->type;
  if (value->kind != Attribute::Kind::kDense || type == nullptr ||
      type->element == nullptr) {
    return std::nullopt;
  }
  const size_t bytes = value->text.size();
  uint64_t bits = 0;
  if (bytes == 0 || bytes > sizeof(bits) ||
      type->element->bits != static_cast<int>(8 * bytes)) {
    return std::nullopt;  // elements differ, or share a byte
  }
  std::memcpy(&bits, value->text.data(), bytes);
  const size_t above = 8 * (sizeof(bits) - bytes);
  return static_cast<int64_t>(bits << above) >> above;
}

void Walk(Block* block, const Module& module, Numbers* numbers) {
  for (Operation& op : block->operations) {
    for (Region& region : op.regions) {
      for (Block& inner : region.blocks) Walk(&inner, module, numbers);
    }
    if (op.results.size() != 1) continue;
    const int result = op.results[0];
    if (op.name == "arith.constant") {
      if (const auto n = ConstantOf(op)) (*numbers)[result] = *n;
      continue;
    }
    if (op.name == "vector.broadcast" && !op.operands.empty()) {
      const auto known = numbers->find(op.operands[0]);
      if (known != numbers->end()) (*numbers)[result] = known->second;
      continue;
    }
    const bool divides = op.name == "arith.divsi" || op.name == "arith.divui";
    const bool remains = op.name == "arith.remsi" || op.name == "arith.remui";
    if ((!divides && !remains) || op.operands.size() != 2 ||
        !module.values[result]->IsVector()) {
      continue;
    }
    const auto divisor = numbers->find(op.operands[1]);
    if (divisor == numbers->end() || divisor->second <= 0) continue;
    const bool power = (divisor->second & (divisor->second - 1)) == 0;
    op.name = !power ? "arith.muli" : divides ? "arith.shrsi" : "arith.andi";
  }
}

}  // namespace

void RenameKnownDivisions(Module* module) {
  Numbers numbers;
  Walk(&module->top, *module, &numbers);
}

}  // namespace ptxla::mosaic
