// Module to HLO text, in XLA's canonical form (operands without shapes, `%`
// before names). ParseModule(Print(m)) is m again, and prints the same text.
#ifndef PTXLA_HLO_BACKEND_IR_PRINTER_H_
#define PTXLA_HLO_BACKEND_IR_PRINTER_H_

#include <string>

#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {

struct PrintOptions {
  bool layouts = true;   // {1,0:T(8,128)}
  bool metadata = true;  // metadata={...} and stack-frame tables
  bool backend_config = true;
  bool sharding = true;
  bool frontend_attributes = true;
  bool percent = true;  // %name
  bool operand_shapes = false;
  bool large_constants = true;  // false: over 10 elements print as {...}
  bool ids = true;              // ".12" suffixes; false: names without them
  // Structure only: what differs between two runs of a compiler.
  static PrintOptions Short();
};

std::string Print(const Module& module, const PrintOptions& options = {});
std::string Print(const Computation& computation,
                  const PrintOptions& options = {});
// One line without indentation.
std::string Print(const Instruction& instruction,
                  const PrintOptions& options = {});

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_IR_PRINTER_H_
