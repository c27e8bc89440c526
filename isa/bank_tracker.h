// What is known about scalar registers modulo the VMEM bank cycle, for the rule
// that two loads of one bundle must not touch the same bank.
//
// A value is a symbol plus a known number of bytes; values of one symbol can be
// compared, of two symbols not. Symbol 0 is the number itself; a loop counter,
// an argument's base or a sum of such is a symbol of its own.
#ifndef PTXLA_ISA_BANK_TRACKER_H_
#define PTXLA_ISA_BANK_TRACKER_H_

#include <array>
#include <cstdint>
#include <map>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "isa/kernel.h"
#include "isa/machine_model.h"

namespace ptxla::isa {

class BankTracker {
 public:
  struct Value {
    int32_t symbol = 0;
    int64_t bytes = 0;  // modulo the cycle
    friend bool operator==(const Value& a, const Value& b) {
      return a.symbol == b.symbol && a.bytes == b.bytes;
    }
  };
  using State = std::array<Value, 64>;

  // Both must outlive it.
  BankTracker(const Kernel& kernel, const MachineModel& machine);

  // Internal if two loads of the bundle are known to touch the same bank.
  absl::Status CheckLoads(absl::Span<const Instr> bundle) const;
  // Follows the bundle's writes of scalar registers.
  void Apply(absl::Span<const Instr> bundle);

  const State& state() const { return state_; }
  void set_state(const State& state) { state_ = state; }
  Value Fresh() { return {++last_symbol_, 0}; }
  // The register becomes unknown.
  void Forget(uint8_t sreg) { state_[sreg] = Fresh(); }

 private:
  Value Known(int64_t value) const { return {0, Mod(value)}; }
  int64_t Mod(int64_t value) const;
  Value ValueAfter(const Instr& instr);
  uint64_t BanksOf(const Instr& load) const;
  // The symbol of `op` on (a, b): the same each time.
  int32_t Symbol(Opcode op, int64_t a, int64_t b = 0);
  Value Sum(const Value& a, const Value& b);

  const Kernel& kernel_;
  const int banks_;
  int32_t last_symbol_ = 0;
  std::map<std::array<int64_t, 3>, int32_t> symbols_;
  State state_;
};

}  // namespace ptxla::isa

#endif  // PTXLA_ISA_BANK_TRACKER_H_
