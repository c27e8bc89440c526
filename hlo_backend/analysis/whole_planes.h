// Planes of an array that are copied as they lie: gathers and scatters whose
// windows are whole planes move each of them by one DMA.
//
//   bf16[4,512,128]   planes of 128 KiB
//   bf16[512,4,128]   planes of 1 KiB: tiles have four rows where a plane has
//   f32[16,4096,16]   no: seven eighths of each plane would be padding
#ifndef PTXLA_HLO_BACKEND_ANALYSIS_WHOLE_PLANES_H_
#define PTXLA_HLO_BACKEND_ANALYSIS_WHOLE_PLANES_H_

#include <cstdint>

#include "hlo_backend/ir/shape.h"

namespace ptxla::hlo {

// Padding to whole tiles at most doubles a plane of so many rows and columns.
bool FillsTiles(int64_t height, int64_t width);

// Planes of two dimensions or more that fill their tiles, of whole bytes, in an
// array of `rows` of which `planes` are named, both of fewer bytes than kernels
// count. Other planes are shorter as rows of a table.
bool AreCopiedAsTheyLie(PrimitiveType type, const DimVector& plane,
                        int64_t rows, int64_t planes);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_ANALYSIS_WHOLE_PLANES_H_
