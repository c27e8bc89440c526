// Reads a table of what the TPU compiler decided: a CSV with rows of kind
// "program" and "kernel" (columns program, chip, kind, opcode, root_opcode,
// out_shape, out_space, operand_shapes, operand_spaces, operand_bytes,
// copy_bytes, iteration_bounds, bundles; of programs argument_bytes,
// output_bytes, alias_bytes, temp_bytes; others are facts for people).
//
//   ASSIGN_OR_RETURN(auto programs, ReadCompilerTable("v6e.csv"));
//   programs[0].kernels[0].steps
#ifndef PTXLA_DRIVER_PARITY_COMPILER_TABLE_H_
#define PTXLA_DRIVER_PARITY_COMPILER_TABLE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "driver/parity/kernel_facts.h"

namespace ptxla::driver {

// InvalidArgument names the line.
absl::StatusOr<std::vector<ProgramFacts>> ReadCompilerTable(
    const std::string& path);

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_PARITY_COMPILER_TABLE_H_
