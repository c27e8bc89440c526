// What the bundles of a block still have room for: instructions, issue slots,
// the limit on loads + stores + misc, and VMEM banks of their loads.
//
//   BundleResources bundles(model);
//   if (bundles.Fit(cycle, v, registers)) bundles.Take(cycle, v);
#ifndef PTXLA_HLO_BACKEND_LOWERING_CODEGEN_BUNDLE_RESOURCES_H_
#define PTXLA_HLO_BACKEND_LOWERING_CODEGEN_BUNDLE_RESOURCES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

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
  explicit BundleResources(const isa::MachineModel& model)
      : model_(model), none_(Full({})) {}

  // Bundles that nothing was put into have all their room.
  bool Fit(int64_t cycle, const VInstr& v,
           absl::Span<const VRegister> registers) const {
    const isa::SlotMask slots = isa::Info(v.op).slots;
    if (static_cast<size_t>(cycle) >= used_.size()) {
      return (slots & none_.full) == 0 && !none_.no_more;
    }
    const Used& used = used_[cycle];
    if ((slots & used.full) != 0 || used.no_more) return false;
    return used.first_load < 0 || !isa::IsVectorLoad(v.op) ||
           BanksFree(used, v, registers);
  }
  void Take(int64_t cycle, const VInstr& v);

  // One more than the last cycle that has something.
  size_t size() const { return used_.size(); }

 private:
  struct Used {
    std::array<uint8_t, isa::kNumSlots> slots{};
    uint8_t size = 0, memory = 0;
    bool no_more = false;    // of any slot
    isa::SlotMask full = 0;  // slots that take no more
    int32_t first_load = -1;
  };
  // What SameBank reads of a load; `next`: of the same bundle.
  struct Load {
    isa::Opcode op{};
    int32_t a = 0, c = 0, imm = 0, imm2 = 0, next = -1;
  };

  // `used` with what follows from its counts.
  Used Full(Used used) const;
  // The same where only the counts of these slots have grown.
  void Fill(Used* used, isa::SlotMask taken) const;
  bool BanksFree(const Used& used, const VInstr& v,
                 absl::Span<const VRegister> registers) const;

  const isa::MachineModel& model_;
  Used none_;  // of an empty bundle
  std::vector<Used> used_;
  std::vector<Load> loads_;
};

}  // namespace ptxla::codegen

#endif  // PTXLA_HLO_BACKEND_LOWERING_CODEGEN_BUNDLE_RESOURCES_H_
