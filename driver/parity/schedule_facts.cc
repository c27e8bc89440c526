#include "driver/parity/schedule_facts.h"

#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::driver {
namespace {

using hlo::Instruction;
using hlo::Opcode;

void AddArrays(const hlo::Shape& shape, std::vector<ArrayFacts>* arrays) {
  hlo::ForEachLeaf(shape, [&](const hlo::Shape& s, const hlo::ShapeIndex&) {
    if (!s.IsArray()) return;
    arrays->push_back({std::string(hlo::PrimitiveTypeName(s.type())),
                       s.ElementCount(), s.ByteSize(), SpaceOf(s)});
  });
}

const Instruction* FusionRoot(const Instruction& i) {
  const Instruction* root = &i;
  while (root->opcode() == Opcode::kFusion) root = root->fused()->root();
  return root;
}

// The TPU compiler's reduces make bf16 of f32 themselves.
const Instruction* WorkBehind(const Instruction* root) {
  const Instruction* reduce = hlo::StoredReduce(*root);
  return reduce != nullptr ? reduce : root;
}

std::string NameOf(Opcode opcode) {
  return opcode == Opcode::kDot ? "convolution"
                                : std::string(hlo::OpcodeName(opcode));
}

}  // namespace

std::string WorkOf(const Instruction& i) {
  const Instruction* root = FusionRoot(i);
  while (root->opcode() == Opcode::kBitcast &&
         root->operand(0)->opcode() != Opcode::kParameter) {
    root = FusionRoot(*root->operand(0));
  }
  return NameOf(WorkBehind(root)->opcode());
}

char SpaceOf(const hlo::Shape& shape) {
  const int space = shape.has_layout() ? shape.memory_space() : 0;
  return space >= 0 && space <= 9 ? static_cast<char>('0' + space) : '?';
}

KernelFacts FactsOf(const Instruction& i) {
  KernelFacts k;
  k.name = i.name();
  k.root = NameOf(WorkBehind(FusionRoot(i))->opcode());
  for (const Instruction* operand : i.operands()) {
    AddArrays(operand->shape(), &k.operands);
  }
  AddArrays(i.shape(), &k.outputs);
  return k;
}

int64_t EstimatedCycles(const Instruction& i) {
  constexpr absl::string_view kKey = "\"estimated_cycles\":\"";
  const std::string& config = i.backend_config();
  const size_t at = config.find(kKey.data(), 0, kKey.size());
  if (at == std::string::npos) return 0;
  const size_t begin = at + kKey.size();
  const size_t end = config.find('"', begin);
  int64_t cycles = 0;
  if (end == std::string::npos ||
      !absl::SimpleAtoi(absl::string_view(config).substr(begin, end - begin),
                        &cycles)) {
    return 0;
  }
  return cycles;
}

}  // namespace ptxla::driver
