// What the bundles of every HLO opcode are tried on: one program per opcode,
// element type and chip, with an array of every ragged size. The test beside
// this runs them all (opcode_bundles_test.cc), and the column "bundles" of
// docs/coverage.md says which opcodes are among them.
//
// Elementwise opcodes follow from their arity; the others have a program each
// in opcode_cases.txt.
//
//   for (const OpcodeCase& c : OpcodeCases()) c.opcode == "clamp", c.type ==
//   "s8"
#ifndef PTXLA_TESTS_DRIVER_OPCODES_OPCODE_CASES_H_
#define PTXLA_TESTS_DRIVER_OPCODES_OPCODE_CASES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "hlo_backend/ir/literal.h"
#include "hlo_backend/ir/module.h"

namespace ptxla::driver {

struct OpcodeCase {
  std::string opcode;
  std::string type;  // of the first operand
  std::string text;  // a module
  // Parameters are even in [low, high); both 0: every kind of value of their
  // type, the largest, infinite and NaN too.
  double low = 0, high = 0;
};

// In the order of their opcodes.
std::vector<OpcodeCase> OpcodeCases();

// One literal per parameter, the same for a seed on every machine.
std::vector<hlo::Literal> CaseArguments(const OpcodeCase& c,
                                        const hlo::Module& module,
                                        uint64_t seed);

}  // namespace ptxla::driver

#endif  // PTXLA_TESTS_DRIVER_OPCODES_OPCODE_CASES_H_
