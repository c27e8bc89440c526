// Reading of the operands of instructions out of a Scanner (parse_instr.h).
//
//   Instr i;                                  // of "[s1+512], stride=2"
//   RETURN_IF_ERROR(ParseSource(&scanner, Operand::kAddr, &i));
//   // i.a == 1, i.imm == 512
//
// InvalidArgument names the line and column of what is no such operand.
#ifndef PTXLA_ISA_PARSE_OPERAND_H_
#define PTXLA_ISA_PARSE_OPERAND_H_

#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "isa/instruction.h"
#include "isa/scanner.h"

namespace ptxla::isa {

inline constexpr int64_t kMinImm = std::numeric_limits<int32_t>::min();
inline constexpr int64_t kMaxImm = std::numeric_limits<int32_t>::max();

// "s12" with prefix "s" -> 12; "-": kNoReg.
absl::Status ParseRegister(Scanner* scanner, absl::string_view prefix,
                           uint8_t* out);
// The letter of a register that an instruction writes; "": a source.
absl::string_view DestinationPrefix(Operand operand);
absl::Status ParseSource(Scanner* scanner, Operand operand, Instr* instr);
// "latch=msra", behind its comma.
absl::Status ParseLatch(Scanner* scanner, Instr* instr);

}  // namespace ptxla::isa

#endif  // PTXLA_ISA_PARSE_OPERAND_H_
