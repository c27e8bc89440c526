// Row numbers of gathers, bounded before them (gather_canonicalizer.h).
//
//   %rows = u32[256] clamp(0, %numbers, 31999)
//   %x = f32[256,128] gather(f32[32000,128] %table, %rows), ...
//
// The TPU compiler's gathers take whole tiles of 1,024 of them. Where they are
// fewer the same kernel pads them, and is no part of what computes the numbers
// (libtpu 0.0.42.1 on v5e: BERT, GPT-2, Mixtral, segment sums of graphs).
#ifndef PTXLA_HLO_BACKEND_ANALYSIS_BOUNDED_ROWS_H_
#define PTXLA_HLO_BACKEND_ANALYSIS_BOUNDED_ROWS_H_

#include "absl/strings/string_view.h"
#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// A gather whose numbers are all inside of its table, as far as what computes
// them says (integer_range.h); its kernel need not bound them.
bool NamesPlacesInside(const Instruction& gather);
// What `bounded-gathers` marks it with.
inline constexpr absl::string_view kBoundedConfig = "bounded";
bool IsMarkedBounded(const Instruction& gather);

// Row numbers that are no whole tiles.
bool ArePadded(const Shape& rows);

// A clamp that only gathers read, as their row numbers, and that pads them.
bool BoundsPaddedRows(const Instruction& i);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_ANALYSIS_BOUNDED_ROWS_H_
