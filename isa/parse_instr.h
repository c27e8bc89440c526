// Reading of instructions and code out of a Scanner, for the assembler.
#ifndef PTXLA_ISA_PARSE_INSTR_H_
#define PTXLA_ISA_PARSE_INSTR_H_

#include "absl/status/status.h"
#include "isa/code.h"
#include "isa/scanner.h"

namespace ptxla::isa {

absl::Status ParseInstr(Scanner* scanner, Instr* instr);
// Nodes up to the closing brace, which is taken, or to the end of the text.
absl::Status ParseNodes(Scanner* scanner, bool braces, Code* code);

}  // namespace ptxla::isa

#endif  // PTXLA_ISA_PARSE_INSTR_H_
