// A comparison of compilers as people read it.
#ifndef PTXLA_DRIVER_PARITY_PARITY_TEXT_H_
#define PTXLA_DRIVER_PARITY_PARITY_TEXT_H_

#include <string>

#include "driver/parity/parity.h"

namespace ptxla::driver {

// Programs that differ, one paragraph each, then the table.
std::string ParityText(const Parity& parity, bool programs);
// The table alone, a row per block.
std::string ParityMarkdown(const Parity& parity);
// A row per program: HBM in bytes and kernels that work, theirs / ours; a
// number alone is both's.
std::string MemoryMarkdown(const Parity& parity);

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_PARITY_PARITY_TEXT_H_
