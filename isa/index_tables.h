// Tables of windows that data decide (isa/kernel.h): checked, and read from the
// arguments before a kernel runs on data.
#ifndef PTXLA_ISA_INDEX_TABLES_H_
#define PTXLA_ISA_INDEX_TABLES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "isa/interpreter.h"
#include "isa/kernel.h"

namespace ptxla::isa {

// A table has an entry for each index and names blocks that exist; Internal
// says which does not.
absl::Status CheckTable(const Kernel& kernel, const WindowDim& dim);

bool HasDataTables(const Kernel& kernel);
// Replaces the assumed entries by those that the arguments hold. `vmem` and
// `smem`: the core's memories, where arguments may lie.
absl::Status ReadTables(absl::Span<const ArgMemory> args,
                        absl::Span<const uint8_t> vmem,
                        absl::Span<const uint8_t> smem, Kernel* kernel);

}  // namespace ptxla::isa

#endif  // PTXLA_ISA_INDEX_TABLES_H_
