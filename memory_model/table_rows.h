// How long rows take that are taken out of a table by number: each by a
// transfer from HBM, or by loads and stores where the table lies in VMEM.
//
//   TableRows g{8192, 2, 25600000};
//   g.Copy(v6e) + g.ByRegisters(v6e) < g.ByTransfers(v6e)   // copy it first
#ifndef PTXLA_MEMORY_MODEL_TABLE_ROWS_H_
#define PTXLA_MEMORY_MODEL_TABLE_ROWS_H_

#include <cstdint>

#include "base/units.h"
#include "chips/chip_spec.h"

namespace ptxla::memory {

struct TableRows {
  int64_t rows = 0;         // that are wanted
  int64_t pieces = 0;       // of 512 bytes, of each row
  int64_t table_bytes = 0;  // with padding

  // Of the table to VMEM.
  Picoseconds Copy(const chips::ChipSpec& chip) const;
  Picoseconds ByTransfers(const chips::ChipSpec& chip) const;
  Picoseconds ByRegisters(const chips::ChipSpec& chip) const;
};

}  // namespace ptxla::memory

#endif  // PTXLA_MEMORY_MODEL_TABLE_ROWS_H_
