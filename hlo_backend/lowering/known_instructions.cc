#include "hlo_backend/lowering/known_instructions.h"

#include "base/hash.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/ir/fingerprint.h"

namespace ptxla::lowering {
namespace {

void Add(const hlo::Shape& shape, Fingerprint* f) {
  f->Add(shape.memory_space());
  for (const hlo::Shape& element : shape.elements()) Add(element, f);
}

// Memory spaces of an instruction's arrays, and of those in its body that lie
// where they lie: its parameters and results (passes/memory/memory_space.h).
uint64_t SpacesOf(const hlo::Instruction& i) {
  Fingerprint f;
  Add(i.shape(), &f);
  for (const hlo::Instruction* o : i.operands()) Add(o->shape(), &f);
  for (const hlo::Computation* body : i.called()) {
    for (const hlo::Instruction* p : body->parameters()) Add(p->shape(), &f);
    const hlo::Instruction& root = *body->root();
    Add(root.shape(), &f);
    if (root.opcode() != hlo::Opcode::kTuple) continue;
    for (const hlo::Instruction* o : root.operands()) Add(o->shape(), &f);
  }
  return f.value();
}

}  // namespace

uint64_t KnownInstructions::FingerprintOf(const hlo::Instruction& i) {
  const uint64_t spaces = SpacesOf(i);
  const auto [it, fresh] = kernels_.try_emplace(&i);
  Kernel& kernel = it->second;
  if (fresh || kernel.spaces != spaces) {
    kernel = {spaces, hlo::KernelFingerprint(i)};
  }
  return kernel.fingerprint;
}

const hlo::Cost& KnownInstructions::CostOf(const hlo::Instruction& i,
                                           hlo::CostAnalysis* costs) {
  const auto [it, fresh] = costs_.try_emplace(&i);
  if (fresh) it->second = costs->Of(i);
  return it->second;
}

}  // namespace ptxla::lowering
