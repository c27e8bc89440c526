#include "hlo_backend/passes/memory/copy_to_vmem.h"

#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/memory/memory_space.h"

namespace ptxla::hlo {

std::vector<ParameterReader> ReadersThat(
    Instruction* parameter,
    absl::FunctionRef<bool(const Instruction&, const Instruction&)> may) {
  std::vector<ParameterReader> readers;
  for (Instruction* user : parameter->users()) {
    if (user->opcode() == Opcode::kBitcast) {
      for (const ParameterReader& r : ReadersThat(user, may)) {
        readers.push_back(r);
      }
    } else if (may(*user, *parameter)) {
      readers.push_back({user, parameter});
    }
  }
  return readers;
}

VmemCopy CopyToVmem(Instruction* parameter,
                    const std::vector<ParameterReader>& readers) {
  Computation* c = parameter->parent();
  Shape resident = parameter->shape();
  SetSpace(&resident, kMemoryVmem);
  Shape context = Shape::Scalar(PrimitiveType::kU32);
  SetSpace(&context, kMemorySyncFlag);
  VmemCopy copy;
  copy.start = c->Add(Opcode::kCopyStart,
                      Shape::Tuple({resident, parameter->shape(), context}),
                      {parameter}, CopyStartAttrs());
  copy.done = c->Add(Opcode::kCopyDone, resident, {copy.start});
  for (const ParameterReader& r : readers) {
    Instruction* value = copy.done;
    if (r.name != parameter) {
      value = c->Add(Opcode::kBitcast, r.name->shape(), {copy.done});
      copy.names.emplace_back(value, r.kernel);
    }
    r.name->ReplaceUseIn(r.kernel, value);
  }
  SetMemorySpace(copy.done, -1, kMemoryVmem);
  return copy;
}

}  // namespace ptxla::hlo
