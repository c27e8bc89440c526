// The text of an instruction's own attributes: ", dimensions={0}, ...". Called
// computations are part of it, at XLA's place for each opcode.
#ifndef PTXLA_HLO_BACKEND_IR_PRINT_ATTRIBUTES_H_
#define PTXLA_HLO_BACKEND_IR_PRINT_ATTRIBUTES_H_

#include <string>

#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/ir/printer.h"

namespace ptxla::hlo {

void AppendAttributes(const Instruction& instruction,
                      const PrintOptions& options, std::string* out);

// Only the called computations.
void AppendCalled(const Instruction& i, const PrintOptions& options,
                  std::string* out);

// ", result_accuracy={mode=highest}", which XLA has among what every
// instruction may have; nothing for the default.
void AppendResultAccuracy(const Instruction& instruction, std::string* out);

// "{1}", "{}".
void AppendShapeIndex(absl::Span<const int64_t> index, std::string* out);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_IR_PRINT_ATTRIBUTES_H_
