// Tables of addresses: a result of several arrays is handed over with one, in
// HBM, for each instruction that makes such a result (fusions, sorts, loops,
// copies under way). Tuples that only name what others made use theirs.
//
//   AddressTables tables = TablesOf(computations, v5e);
//   tables.bytes, tables.taken     // of two: 1024, 32768
#ifndef PTXLA_HLO_BACKEND_COMPILER_ADDRESS_TABLES_H_
#define PTXLA_HLO_BACKEND_COMPILER_ADDRESS_TABLES_H_

#include <vector>

#include "base/units.h"
#include "chips/chip_spec.h"
#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {

struct AddressTables {
  Bytes bytes;
  Bytes taken;  // in slots of temporaries
};

// Temporaries of HBM begin at multiples of it.
Bytes TempSlot(const chips::ChipSpec& chip);
// The table that several results of the program are handed over with; 0: there
// is one.
Bytes TableOfResults(const Module& module, const chips::ChipSpec& chip);

AddressTables TablesOf(const std::vector<Computation*>& computations,
                       const chips::ChipSpec& chip);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_COMPILER_ADDRESS_TABLES_H_
