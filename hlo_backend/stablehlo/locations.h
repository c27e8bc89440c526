// loc(...) of MLIR text to the metadata of HLO. Internal to the reader.
#ifndef PTXLA_HLO_BACKEND_STABLEHLO_LOCATIONS_H_
#define PTXLA_HLO_BACKEND_STABLEHLO_LOCATIONS_H_

#include <string>

#include "absl/container/flat_hash_map.h"
#include "hlo_backend/ir/metadata.h"

namespace ptxla::hlo::mlir {

// `text` is what stands behind `loc`: ("jit(f)/add"(#loc3)). The first name is
// the op's, one that ends in a colon its type, the innermost call the source
// line. `aliases`: "#loc3" to "loc(...)".
Metadata ReadLocation(
    const std::string& text,
    const absl::flat_hash_map<std::string, std::string>& aliases);

}  // namespace ptxla::hlo::mlir

#endif  // PTXLA_HLO_BACKEND_STABLEHLO_LOCATIONS_H_
