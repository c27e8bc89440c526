#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/ir/verifier.h"
#include "hlo_backend/proto/attribute_proto.h"
#include "hlo_backend/proto/metadata_proto.h"
#include "hlo_backend/proto/module_proto.h"
#include "hlo_backend/proto/repeated_fields.h"
#include "hlo_backend/proto/shape_proto.h"
#include "hlo_backend/proto/sharding_proto.h"

namespace ptxla::hlo {
namespace {

class ModuleWriter {
 public:
  ModuleWriter(const Module& module, proto::HloModuleProto* out)
      : m_(module), out_(*out) {}

  absl::Status Write();

 private:
  absl::Status Header();
  absl::Status WriteComputation(const Computation& c);
  absl::Status WriteInstruction(const Instruction& i,
                                proto::HloInstructionProto* out);
  absl::Status Extras(const Instruction& i, proto::HloInstructionProto* out);
  std::vector<Instruction*> Ordered(const Computation& c) const {
    if (!m_.config().is_scheduled) return c.PostOrder();
    std::vector<Instruction*> order;
    for (Instruction* i : c.instructions()) order.push_back(i);
    return order;
  }

  const Module& m_;
  proto::HloModuleProto& out_;
  int64_t next_id_ = 0;
  absl::flat_hash_map<const Instruction*, int64_t> ids_;
  absl::flat_hash_map<const Computation*, int64_t> computation_ids_;
};

absl::Status ModuleWriter::Header() {
  const ModuleConfig& c = m_.config();
  if (!out_.ParseFromString(c.proto_rest)) {
    return absl::InternalError("the kept fields of the module do not parse");
  }
  out_.set_name(m_.name());
  out_.set_entry_computation_name(m_.entry()->name());
  RETURN_IF_ERROR(
      ToProto(c.entry_layout ? *c.entry_layout : m_.entry()->program_shape(),
              out_.mutable_host_program_shape()));
  for (const InputOutputAlias& a : c.input_output_alias) {
    auto* entry = out_.mutable_input_output_alias()->add_entries();
    AddAll(a.output, entry->mutable_output_shape_index());
    entry->set_parameter_number(a.parameter);
    AddAll(a.parameter_index, entry->mutable_parameter_shape_index());
    entry->set_kind(a.kind == AliasKind::kMust ? proto::MUST_ALIAS
                                               : proto::MAY_ALIAS);
  }
  for (const BufferDonor& d : c.buffer_donors) {
    auto* entry = out_.mutable_buffer_donor()->add_entries();
    entry->set_parameter_number(d.parameter);
    AddAll(d.parameter_index, entry->mutable_parameter_shape_index());
  }
  for (const CrossProgramPrefetch& p : c.cross_program_prefetches) {
    auto* prefetch = out_.add_cross_program_prefetches();
    prefetch->set_parameter(p.parameter);
    AddAll(p.index, prefetch->mutable_index());
    prefetch->set_offset(p.offset);
  }
  for (const auto& [key, value] : c.frontend_attributes) {
    (*out_.mutable_frontend_attributes()->mutable_map())[key] = value;
  }
  if (!m_.stack_frames().empty()) {
    ToProto(m_.stack_frames(), out_.mutable_stack_frame_index());
  }
  proto::HeaderProto header;
  header.set_replica_count(c.replica_count);
  header.set_num_partitions(c.num_partitions);
  header.set_alias_passthrough_params(c.alias_passthrough_params);
  for (bool b : c.allow_spmd_sharding_propagation_to_parameters) {
    header.add_allow_spmd_sharding_propagation_to_parameters(b);
  }
  for (bool b : c.allow_spmd_sharding_propagation_to_output) {
    header.add_allow_spmd_sharding_propagation_to_output(b);
  }
  header.set_origin_recovery_table(c.origin_recovery_table);
  header.set_debug_attributes(c.debug_attributes);
  header.set_free_layouts(!c.entry_layout);
  if (header.ByteSizeLong() > 0) *out_.mutable_header() = std::move(header);
  return absl::OkStatus();
}

absl::Status ModuleWriter::Extras(const Instruction& i,
                                  proto::HloInstructionProto* out) {
  const InstructionExtras& e = i.extras();
  if (e.sharding) ToProto(*e.sharding, out->mutable_sharding());
  for (const auto& [key, value] : e.frontend_attributes) {
    (*out->mutable_frontend_attributes()->mutable_map())[key] = value;
  }
  out->set_backend_config(e.backend_config);
  if (!e.origin.empty()) {
    RETURN_IF_ERROR(OriginToProto(e.origin, out->mutable_original_value()));
  }
  if (e.statistics.empty()) return absl::OkStatus();
  return StatisticsToProto(e.statistics, out->mutable_statistics_viz());
}

// XLA wants the thread of an async-start in all of its chain.
std::string ThreadOf(const Instruction& done) {
  const Instruction* i = &done;
  while (i->opcode() != Opcode::kAsyncStart && i->operand_count() > 0) {
    i = i->operand(0);
  }
  const auto* start = i->attrs_if<AsyncAttrs>();
  if (start == nullptr || start->execution_thread.empty()) return "main";
  return start->execution_thread;
}

absl::Status ModuleWriter::WriteInstruction(const Instruction& i,
                                            proto::HloInstructionProto* out) {
  if (i.has_extras() && !out->ParseFromString(i.extras().proto_rest)) {
    return absl::InternalError("kept fields do not parse");
  }
  out->set_name(i.name());
  out->set_opcode(std::string(OpcodeName(i.opcode())));
  RETURN_IF_ERROR(ToProto(i.shape(), out->mutable_shape()));
  out->set_id(ids_[&i]);
  for (const Instruction* o : i.operands()) out->add_operand_ids(ids_[o]);
  for (const Instruction* p : i.control_predecessors()) {
    out->add_control_predecessor_ids(ids_[p]);
  }
  for (const Computation* c : i.called()) {
    out->add_called_computation_ids(computation_ids_[c]);
  }
  if (i.shared_metadata() && !i.metadata().empty()) {
    ToProto(i.metadata(), out->mutable_metadata());
  }
  if (i.has_extras()) RETURN_IF_ERROR(Extras(i, out));
  RETURN_IF_ERROR(AttributesToProto(i, out));
  if (i.opcode() == Opcode::kAsyncUpdate || i.opcode() == Opcode::kAsyncDone) {
    out->set_async_execution_thread(ThreadOf(i));
  }
  return absl::OkStatus();
}

absl::Status ModuleWriter::WriteComputation(const Computation& c) {
  proto::HloComputationProto* out = out_.add_computations();
  out->set_name(c.name());
  const int64_t id = static_cast<int64_t>(computation_ids_.size());
  computation_ids_[&c] = id;
  out->set_id(id);
  RETURN_IF_ERROR(ToProto(c.program_shape(), out->mutable_program_shape()));
  out->set_is_fusion_computation(c.IsFusionComputation());
  out->set_execution_thread(
      c.execution_thread().empty() ? "main" : c.execution_thread());
  const std::vector<Instruction*> order = Ordered(c);
  // XLA puts what it reads in the order of the ids.
  for (const Instruction* i : c.instructions()) ids_[i] = next_id_++;
  for (const Instruction* i : order) {
    RETURN_IF_ERROR(WriteInstruction(*i, out->add_instructions()))
        << Describe(*i);
  }
  out->set_root_id(ids_[c.root()]);
  if (m_.config().is_scheduled && !c.IsFusionComputation()) {
    auto& sequence = (*out_.mutable_schedule()->mutable_sequences())[id];
    for (const Instruction* i : order) sequence.add_instruction_ids(ids_[i]);
  }
  return absl::OkStatus();
}

absl::Status ModuleWriter::Write() {
  RETURN_IF_ERROR(Header());
  for (const Computation* c : m_.ComputationPostOrder()) {
    RETURN_IF_ERROR(WriteComputation(*c));
  }
  out_.set_entry_computation_id(computation_ids_[m_.entry()]);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<proto::HloModuleProto> ToProto(const Module& module) {
  proto::HloModuleProto out;
  RETURN_IF_ERROR(ModuleWriter(module, &out).Write());
  return out;
}

}  // namespace ptxla::hlo
