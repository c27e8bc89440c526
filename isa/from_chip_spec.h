// The MachineModel of a chip file: one core, with every name of isa/keys.h
// resolved through the file's latency.*, interval.*, fifo.* and slot.* numbers.
//
//   ASSIGN_OR_RETURN(chips::ChipSpec chip, chips::ChipSpec::Load("v6e"));
//   MachineModel m = FromChipSpec(chip);
//   m.Latency(LatencyKey::kMatmulBf16)      // 192
//
// A key that the file does not give stays 0: the chip lacks the instructions
// that use it (latency, interval), or no limit is known (fifo).
#ifndef PTXLA_ISA_FROM_CHIP_SPEC_H_
#define PTXLA_ISA_FROM_CHIP_SPEC_H_

#include "chips/chip_spec.h"
#include "isa/machine_model.h"

namespace ptxla::isa {

MachineModel FromChipSpec(const chips::ChipSpec& chip);

}  // namespace ptxla::isa

#endif  // PTXLA_ISA_FROM_CHIP_SPEC_H_
