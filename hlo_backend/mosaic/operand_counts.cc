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

// Of the largest vector memory, 128 MiB on v5e and v6e (published), half: a
// vector of more bytes has no room for another beside it.
constexpr int64_t kMaxElements = 1 << 26;

bool IsReduction(const std::string& name) {
  return name == "vector.multi_reduction" || name == "vector.reduction" ||
         name == "tpu.all_reduce" || name == "tpu.reduce_index";
}

bool IsVectorThatFits(const Type& type) {
  int64_t elements = 1;
  for (const int64_t d : type.dims) {
    if (d <= 0 || d > kMaxElements / elements) return false;
    elements *= d;
  }
  return true;
}

Counts LeastOf(const std::string& name) {
  if (name == "arith.constant" || name == "tpu.iota") return {0, 1};
  if (name == "tpu.matmul" || name == "vector.contract") return {2, 1};
  if (name == "arith.select") return {3, 1};
  if (absl::StartsWith(name, "arith.cmp")) return {2, 1};
  if (absl::StartsWith(name, "arith.") || absl::StartsWith(name, "math.") ||
      name == "vector.broadcast" || name == "vector.shape_cast" ||
      IsReduction(name) || absl::EndsWith(name, "load") ||
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
        IsReduction(op.name)) {
      for (size_t k = 0; good && k < least.operands; ++k) {
        good = module.values[op.operands[k]]->IsVector();
      }
    }
    // Vectors have elements, and are known whole.
    for (const int result : op.results) {
      const Type& type = *module.values[result];
      good = good && (!type.IsVector() || IsVectorThatFits(type));
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
