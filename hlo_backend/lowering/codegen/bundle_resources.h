// What one bundle still has room for: instructions, issue slots, the limit on
// loads + stores + misc, and VMEM banks of its loads.
//
//   BundleResources bundle;
//   if (bundle.Fits(v, model, registers)) bundle.Take(v, model);
#ifndef PTXLA_HLO_BACKEND_LOWERING_CODEGEN_BUNDLE_RESOURCES_H_
#define PTXLA_HLO_BACKEND_LOWERING_CODEGEN_BUNDLE_RESOURCES_H_

#include <array>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "hlo_backend/lowering/codegen/vcode.h"
#include "isa/machine_model.h"

namespace ptxla::codegen {

// Could these two vector loads of one bundle hit the same VMEM bank, as far as
// their addresses are known?
bool SameBank(const VInstr& x, const VInstr& y, const isa::MachineModel& model,
              absl::Span<const VRegister> registers);

class BundleResources {
 public:
  // Slots only: the same for all instructions with these slots.
  bool SlotsFit(isa::SlotMask slots, const isa::MachineModel& model) const;
  bool Fits(const VInstr& v, const isa::MachineModel& model,
            absl::Span<const VRegister> registers) const;
  void Take(const VInstr& v);

 private:
  std::array<uint8_t, isa::kNumSlots> used_{};
  uint8_t size_ = 0;
  uint8_t memory_ = 0;
  // What SameBank reads of a load: there are as many of these as bundles.
  struct Load {
    isa::Opcode op{};
    int32_t a = 0, c = 0, imm = 0, imm2 = 0;
  };
  absl::InlinedVector<Load, 4> loads_;
};

}  // namespace ptxla::codegen

#endif  // PTXLA_HLO_BACKEND_LOWERING_CODEGEN_BUNDLE_RESOURCES_H_
