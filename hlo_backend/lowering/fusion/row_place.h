// Where a row of a tiled array lies that an index chooses.
//
//   // bf16[3,4096], to + 512 bytes for the pair of rows that has row `index`
//   const Sca at = PlaceOfRow(b, array, to, index, array.row_stride());
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_ROW_PLACE_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_ROW_PLACE_H_

#include <cstdint>

#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/physical_array.h"

namespace ptxla::lowering {

// The byte where its words begin, of an array whose rows of tiles are
// `row_stride` bytes apart from `to` on. Of packed types several rows share
// their words.
codegen::Sca PlaceOfRow(codegen::CodeBuilder& b, const PhysicalArray& array,
                        codegen::Sca to, codegen::Sca index,
                        int64_t row_stride);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_ROW_PLACE_H_
