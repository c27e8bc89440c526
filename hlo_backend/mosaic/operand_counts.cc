#include "hlo_backend/mosaic/operand_counts.h"

#include <cstdint>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace ptxla::mosaic {
namespace {

struct Counts {
  size_t operands = 0, results = 0;
};

Counts LeastOf(const std::string& name) {
  if (name == "arith.constant" || name == "tpu.iota") return {0, 1};
  if (name == "tpu.matmul" || name == "vector.contract") return {2, 1};
  if (name == "arith.select") return {3, 1};
  if (absl::StartsWith(name, "arith.cmp")) return {2, 1};
  if (absl::StartsWith(name, "arith.") || absl::StartsWith(name, "math.") ||
      name == "vector.broadcast" || name == "vector.shape_cast" ||
      name == "vector.multi_reduction" || absl::EndsWith(name, "load") ||
      absl::EndsWith(name, "rotate") || absl::EndsWith(name, "transpose")) {
    return {1, 1};
  }
  if (absl::EndsWith(name, "store")) return {2, 0};
  return {};
}

absl::Status Check(const Block& block, const Module& module) {
  for (const Operation& op : block.operations) {
    const Counts least = LeastOf(op.name);
    bool good = op.operands.size() >= least.operands &&
                op.results.size() >= least.results;
    // A product of vectors, a reduction of one.
    if (op.name == "tpu.matmul" || op.name == "vector.contract" ||
        op.name == "vector.multi_reduction") {
      for (size_t k = 0; good && k < least.operands; ++k) {
        good = module.values[op.operands[k]]->IsVector();
      }
    }
    // Vectors have elements, and are known whole.
    for (const int result : op.results) {
      const Type& type = *module.values[result];
      for (const int64_t d : type.dims) good &= !type.IsVector() || d > 0;
    }
    if (!good) {
      return absl::InvalidArgumentError(
          absl::StrCat("Mosaic kernel: ", op.name,
                       " is not what its operands and results say"));
    }
    for (const Region& region : op.regions) {
      for (const Block& inner : region.blocks) {
        RETURN_IF_ERROR(Check(inner, module));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckOperandCounts(const Module& module) {
  return Check(module.top, module);
}

}  // namespace ptxla::mosaic
