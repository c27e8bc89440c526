#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "hlo_backend/mosaic/kernel_ir.h"

namespace ptxla::mosaic {
namespace {

// Operations that only make their results; of all others it is taken that
// somebody sees what they do.
bool IsPure(absl::string_view name) {
  return absl::StartsWith(name, "arith.") || absl::StartsWith(name, "math.") ||
         name == "vector.load" || name == "vector.shape_cast" ||
         name == "vector.broadcast" || name == "vector.multi_reduction" ||
         name == "tpu.vector_load" || name == "tpu.iota" ||
         name == "tpu.matmul" || name == "tpu.concatenate" ||
         name == "tpu.repeat" || name == "tpu.transpose";
}

void Walk(const Block& block, std::vector<bool>* live) {
  for (size_t k = block.operations.size(); k-- > 0;) {
    const Operation& op = block.operations[k];
    bool needed = !IsPure(op.name);
    for (const int result : op.results) needed = needed || (*live)[result];
    if (!needed) continue;
    for (const int operand : op.operands) (*live)[operand] = true;
    for (size_t r = op.regions.size(); r-- > 0;) {
      const std::vector<Block>& blocks = op.regions[r].blocks;
      for (size_t b = blocks.size(); b-- > 0;) Walk(blocks[b], live);
    }
  }
}

}  // namespace

std::vector<bool> LiveValues(const Module& module) {
  std::vector<bool> live(module.values.size(), false);
  Walk(module.top, &live);
  return live;
}

}  // namespace ptxla::mosaic
