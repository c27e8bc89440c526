// A whole HLO program: computations, the entry, and what the header says.
//
//   Module m("jit_f");
//   Computation* main = m.AddComputation("main");
//   ... b = Builder(main) ...
//   m.SetEntry(main);
//   std::string text = Print(m);                    // printer.h
//   ASSIGN_OR_RETURN(auto copy, ParseModule(text)); // parser.h
//
// Names: unique among computations, and among the instructions of one
// computation. UniqueName() gives names that are new to the whole module.
#ifndef PTXLA_HLO_BACKEND_IR_MODULE_H_
#define PTXLA_HLO_BACKEND_IR_MODULE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/ir/name_uniquer.h"

namespace ptxla::hlo {

enum class AliasKind { kMay, kMust };

// Output {output} shares the buffer of parameter `parameter` at {index}.
struct InputOutputAlias {
  ShapeIndex output;
  int64_t parameter = 0;
  ShapeIndex parameter_index;
  AliasKind kind = AliasKind::kMay;
};

// The caller gives this buffer away: it may be reused for anything.
struct BufferDonor {
  int64_t parameter = 0;
  ShapeIndex parameter_index;
};

struct CrossProgramPrefetch {
  int64_t parameter = 0;
  ShapeIndex index;
  int64_t offset = -1;  // -1: not given
};

// What stands after `HloModule name`.
struct ModuleConfig {
  bool is_scheduled = false;  // insertion order is execution order
  // 0: not given; see Module::num_replicas().
  int64_t replica_count = 0, num_partitions = 0;
  std::vector<InputOutputAlias> input_output_alias;
  std::vector<BufferDonor> buffer_donors;
  std::vector<CrossProgramPrefetch> cross_program_prefetches;
  bool alias_passthrough_params = false;
  // Parameter and result shapes with layouts; absent: layouts are free.
  std::optional<ProgramShape> entry_layout;
  FrontendAttributes frontend_attributes;
  std::vector<bool> allow_spmd_sharding_propagation_to_parameters;
  std::vector<bool> allow_spmd_sharding_propagation_to_output;
  // As they were read: "{...}".
  std::string origin_recovery_table, debug_attributes;
  // Of an HloModuleProto it was read from: the fields that nothing here holds
  // (profiles, device assignment ...), serialized; they are written back.
  std::string proto_rest;
};

class Module {
 public:
  explicit Module(std::string name);
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  ~Module();

  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }
  const ModuleConfig& config() const { return config_; }
  ModuleConfig* mutable_config() { return &config_; }
  const StackFrameTables& stack_frames() const { return stack_frames_; }
  StackFrameTables* mutable_stack_frames() { return &stack_frames_; }
  // Where it was read from, for messages; "" if it was not.
  const std::string& file_name() const { return file_name_; }
  void set_file_name(std::string f) { file_name_ = std::move(f); }

  Computation* entry() const { return entry_; }
  void SetEntry(Computation* entry) { entry_ = entry; }
  // Insertion order.
  std::vector<Computation*> computations() const;
  // Callees before callers; the insertion order where that is one already.
  // Computations that nobody calls are included.
  std::vector<Computation*> ComputationPostOrder() const;
  int64_t instruction_count() const;
  Computation* FindComputation(absl::string_view name) const;

  // `name` is a wish, made unique.
  Computation* AddComputation(absl::string_view name);
  // Takes `name` as it is; the caller knows that it is free.
  Computation* AddComputationWithExactName(std::string name);
  // Nothing may call it any more.
  void RemoveComputation(Computation* computation);
  // Removes computations that the entry does not reach. Returns how many.
  int RemoveUnusedComputations();

  // A deep copy of a computation of any module, with its callees (those of
  // this module are shared, those of another copied once per `copied`).
  using ComputationMap = absl::flat_hash_map<const Computation*, Computation*>;
  Computation* CloneComputation(const Computation& source,
                                absl::string_view name, ComputationMap* copied);
  // Same ids, names and order.
  std::unique_ptr<Module> Clone() const;

  std::string UniqueName(absl::string_view wish) { return names_.Unique(wish); }
  void ReserveName(absl::string_view name) { names_.Reserve(name); }
  int NextInstructionId() { return next_instruction_id_++; }

  // Devices as the header says, else 1.
  int64_t num_replicas() const;
  int64_t num_partitions() const;
  // Replicas x partitions, at least what replica groups, source-target pairs
  // and shardings mention (dumps often omit the header fields).
  int64_t DeviceCount() const;

  // Drops the holes that removals left in every computation.
  void Compact();

 private:
  std::string name_, file_name_;
  ModuleConfig config_;
  StackFrameTables stack_frames_;
  std::vector<std::unique_ptr<Computation>> computations_;  // holes: nullptr
  Computation* entry_ = nullptr;
  NameUniquer names_;
  int next_instruction_id_ = 0;
  int next_computation_id_ = 0;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_IR_MODULE_H_
