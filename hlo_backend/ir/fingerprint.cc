#include "hlo_backend/ir/fingerprint.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "base/hash.h"
#include "hlo_backend/ir/loop_state.h"

namespace ptxla::hlo {
namespace {

// A value for each instruction of a computation. Most computations are small
// and their operands near: those are found by looking back.
class ValuesOfInstructions {
 public:
  explicit ValuesOfInstructions(int count) : is_small_(count <= kSmall) {
    if (!is_small_) map_.reserve(count);
  }
  void Add(const Instruction& i, uint64_t value) {
    if (is_small_) {
      list_.push_back({&i, value});
    } else {
      map_.emplace(&i, value);
    }
  }
  // 0: it has none.
  uint64_t Of(const Instruction& i) const {
    if (!is_small_) {
      const auto it = map_.find(&i);
      return it == map_.end() ? 0 : it->second;
    }
    for (auto it = list_.rbegin(); it != list_.rend(); ++it) {
      if (it->first == &i) return it->second;
    }
    return 0;
  }

 private:
  static constexpr int kSmall = 32;
  const bool is_small_;
  absl::InlinedVector<std::pair<const Instruction*, uint64_t>, kSmall> list_;
  absl::flat_hash_map<const Instruction*, uint64_t> map_;
};

// Fingerprints of computations met so far, so that shared callees cost once.
class FingerprintHasher {
 public:
  explicit FingerprintHasher(const FingerprintOptions& options)
      : options_(options) {}

  uint64_t Of(const Computation& c) {
    auto found = computations_.find(&c);
    if (found != computations_.end()) return found->second;
    ValuesOfInstructions values(c.instruction_count());
    // Sums and not sequences, so that the order of instructions which do not
    // depend on each other does not count.
    uint64_t sum = 0;
    Fingerprint sequence;
    for (const Instruction* i : c.PostOrder()) {
      Fingerprint f = Own(*i);
      for (const Instruction* o : i->operands()) {
        f.Add(static_cast<int64_t>(values.Of(*o)));
      }
      uint64_t control = 0;
      for (const Instruction* p : i->control_predecessors()) {
        control += values.Of(*p);
      }
      f.Add(static_cast<int64_t>(control));
      values.Add(*i, f.value());
      sum += f.value();
      if (options_.order) sequence.Add(static_cast<int64_t>(f.value()));
    }
    Fingerprint all;
    all.Add(static_cast<int64_t>(c.parameter_count()))
        .Add(static_cast<int64_t>(sum))
        .Add(static_cast<int64_t>(sequence.value()));
    if (c.root() != nullptr) {
      all.Add(static_cast<int64_t>(values.Of(*c.root())));
    }
    if (!c.execution_thread().empty()) all.Add(c.execution_thread());
    computations_.emplace(&c, all.value());
    return all.value();
  }

  // Everything about an instruction but its operands.
  Fingerprint Own(const Instruction& i) {
    Fingerprint f;
    f.Add(static_cast<int64_t>(i.opcode()));
    f.Add(static_cast<int64_t>(i.shape().Fingerprint(options_.layouts)));
    f.Add(static_cast<int64_t>(AttributesFingerprint(i.attributes())));
    for (const Computation* callee : i.called()) {
      f.Add(static_cast<int64_t>(Of(*callee)));
    }
    if (!i.has_extras()) return f;
    if (options_.shardings && i.sharding() != nullptr) {
      f.Add(i.sharding()->ToString());
    }
    if (options_.backend_config) f.Add(i.backend_config());
    for (const auto& [key, value] : i.frontend_attributes()) {
      f.Add(key).Add(value);
    }
    return f;
  }

 private:
  FingerprintOptions options_;
  absl::flat_hash_map<const Computation*, uint64_t> computations_;
};

}  // namespace

uint64_t FingerprintOf(const Computation& computation,
                       const FingerprintOptions& options) {
  return FingerprintHasher(options).Of(computation);
}

uint64_t FingerprintOf(const Module& module,
                       const FingerprintOptions& options) {
  Fingerprint f;
  FingerprintOptions with_order = options;
  const ModuleConfig& config = module.config();
  with_order.order = options.order || config.is_scheduled;
  if (module.entry() != nullptr) {
    f.Add(static_cast<int64_t>(
        FingerprintHasher(with_order).Of(*module.entry())));
  }
  f.Add(static_cast<int64_t>(config.is_scheduled))
      .Add(config.replica_count)
      .Add(config.num_partitions);
  for (const InputOutputAlias& a : config.input_output_alias) {
    f.Add(a.output).Add(a.parameter).Add(a.parameter_index);
    f.Add(static_cast<int64_t>(a.kind));
  }
  for (const BufferDonor& d : config.buffer_donors) {
    f.Add(d.parameter).Add(d.parameter_index);
  }
  return f.value();
}

uint64_t KernelFingerprint(const Instruction& instruction) {
  FingerprintHasher hasher{FingerprintOptions()};
  Fingerprint f = hasher.Own(instruction);
  if (UpdatesLoopState(instruction)) f.Add("in place");
  absl::flat_hash_map<const Instruction*, int64_t> met;
  for (const Instruction* operand : instruction.operands()) {
    // An array that is two operands is read once.
    f.Add(met.try_emplace(operand, static_cast<int64_t>(met.size()))
              .first->second);
    f.Add(static_cast<int64_t>(
        operand->shape().Fingerprint(/*with_layout=*/true)));
    // Code may hold the value of a constant that is one number.
    if (operand->IsConstant() && !operand->literal().IsElided() &&
        operand->literal().IsUniform()) {
      f.Add(static_cast<int64_t>(hasher.Own(*operand).value()));
    }
  }
  return f.value();
}

}  // namespace ptxla::hlo
