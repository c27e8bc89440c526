#include "hlo_backend/passes/memory/output_homes.h"

#include "hlo_backend/analysis/buffer_plan.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {
namespace {

// Outputs of the entry lie in the parameters that were given away for them.
OutputHomes EntryHomes(const Module& module) {
  const Computation& entry = *module.entry();
  const Shape& result = entry.root()->shape();
  OutputHomes homes(result.IsTuple() ? result.element_count_of_tuple() : 1);
  for (const InputOutputAlias& alias : module.config().input_output_alias) {
    if (alias.output.size() != (result.IsTuple() ? 1 : 0) ||
        !alias.parameter_index.empty()) {
      continue;
    }
    homes[result.IsTuple() ? alias.output[0] : 0].maker =
        entry.parameter(static_cast<int>(alias.parameter));
  }
  return homes;
}

// The next state of a loop lies where the state lies.
OutputHomes BodyHomes(const Computation& body) {
  OutputHomes homes(body.root()->shape().element_count_of_tuple());
  for (size_t k = 0; k < homes.size(); ++k) {
    homes[k].maker = body.parameter(0);
    homes[k].index = static_cast<int64_t>(k);
  }
  return homes;
}

bool IsLoopBody(const Computation& c) {
  for (const Instruction* caller : c.callers()) {
    if (caller->opcode() == Opcode::kWhile && caller->while_body() == &c) {
      return true;
    }
  }
  return false;
}

}  // namespace

OutputHomes HomesOfOutputs(const Computation& c) {
  if (c.IsEntry()) return EntryHomes(*c.module());
  return IsLoopBody(c) ? BodyHomes(c) : OutputHomes();
}

MemoryPlace OriginOf(MemoryPlace place, const MemoryPlace& home) {
  while (!(place == home)) {
    const Instruction* maker = place.maker;
    if (place.index < 0 && InPlaceOperand(*maker) == 0) {
      place = PlaceOf(maker->operand(0));
    } else if (place.index >= 0 && maker->opcode() == Opcode::kWhile &&
               maker->operand(0)->opcode() == Opcode::kTuple) {
      const auto k = static_cast<int>(place.index);
      place = PlaceOf(maker->operand(0)->operand(k));
    } else {
      break;
    }
  }
  return place;
}

}  // namespace ptxla::hlo
