// Parameters and results of programs with convolutions or sliding windows in
// the order of dimensions that pads them least, of several such orders in the
// one nearest to the default: as the TPU's runtime lays out arrays of three
// dimensions or more. An entry layout that is not the default one is a wish,
// and is named in the same way.
//
//   %x = f32[32,64,56,56] parameter(0)      // {1,3,2,0}: 64 lanes, 56 rows
//   %t = f32[56,56,32,64] transpose(%x), dimensions={2,3,0,1}
//   ==> %y = f32[32,56,56,64] transpose(%x), dimensions={0,2,3,1}   // no work
//       %t = f32[56,56,32,64] transpose(%y), dimensions={1,2,0,3}
#ifndef PTXLA_HLO_BACKEND_PASSES_COMPACT_ENTRY_H_
#define PTXLA_HLO_BACKEND_PASSES_COMPACT_ENTRY_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class CompactEntryPass : public Pass {
 public:
  absl::string_view name() const override { return "compact-entry"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext&) override;
};

// Dimensions of the parameter from major to minor as this pass will lay it out;
// in their order where it leaves the layout as it is.
DimVector CompactParameterOrder(const Instruction& parameter, int generation);

// The transpose only says how the entry's parameter lies, or how its result
// will.
bool NamesEntryLayout(const Instruction& transpose);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_COMPACT_ENTRY_H_
