// Every array of the entry, parameter or result, in the order of dimensions
// that the TPU's runtime gives it: the one that pads it least
// (CompactTpuLayout). An order that the header gives together with tiles was
// chosen for a TPU and stays; one without tiles is what a framework printed.
//
// Inside, arrays are row-major: a bitcast names a parameter with its dimensions
// as they lie, and a transpose gives it its logical ones; so for results. The
// transposes are work for transpose-mover and the simplifier, the bitcasts stay
// what they are.
//
//   %x = f32[512,784] parameter(0)          // {0,1}: 784 would take 7 tiles
//   ==> %m = f32[784,512] bitcast(%x)
//       %t = f32[512,784] transpose(%m), dimensions={1,0}
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_COMPACT_ENTRY_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_COMPACT_ENTRY_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class CompactEntryPass : public Pass {
 public:
  absl::string_view name() const override { return "compact-entry"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext&) override;
};

// A parameter of the entry, or one plane of it, with its dimensions as they
// lie, all or those that are not 1.
bool NamesParameterAsItLies(const Instruction& i);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_COMPACT_ENTRY_H_
