// Parts of a stack that no kernel copies: whole planes, which follow one
// another in memory, at an address that start indices give (isa::MovingArg).
//
// A dynamic-slice in place is a name for the planes: its readers take them
// where they lie. Of a dynamic-update-slice in place the kernel that makes the
// update writes the planes where they are to be.
//
//   %w = bf16[1,512,2048]{2,1,0:T(8,128)(2,1)} dynamic-slice(%stack, %i, 0, 0),
//       backend_config="in place"
//   PlanesWithin(%w's shape, %stack's shape) == {{.dim = 0, .last = 5,
//                                                 .stride = 2097152}}
#ifndef PTXLA_HLO_BACKEND_ANALYSIS_PLANES_IN_PLACE_H_
#define PTXLA_HLO_BACKEND_ANALYSIS_PLANES_IN_PLACE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

inline constexpr absl::string_view kInPlaceConfig = "in place";

// Bytes between planes in VMEM: arguments begin at multiples of it there
// (isa::kVmemAlignment, which lowering holds it to).
inline constexpr int64_t kPlaneAlignment = 16384;

// It is no kernel, and has no memory of its own.
bool IsInPlace(const Instruction& instruction);

// A dimension of which there is a part.
struct PartOfDim {
  int dim = 0;
  int64_t last = 0;    // where the part begins at most
  int64_t stride = 0;  // bytes from one index to the next
};

// A part of a tiled array that is one run of its bytes; nothing: it is not.
std::optional<std::vector<PartOfDim>> PlanesWithin(const Shape& part,
                                                   const Shape& whole);

// Of a dynamic-slice or dynamic-update-slice.
std::optional<std::vector<PartOfDim>> PlanesOf(const Instruction& i);
// Where along dimension `dim` its planes begin.
Instruction* StartOfPlanes(const Instruction& i, int dim);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_ANALYSIS_PLANES_IN_PLACE_H_
