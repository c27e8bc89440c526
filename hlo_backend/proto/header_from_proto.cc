#include "hlo_backend/proto/header_from_proto.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/proto/kept_fields.h"
#include "hlo_backend/proto/metadata_proto.h"
#include "hlo_backend/proto/shape_proto.h"
#include "hlo_backend/proto/text_checks.h"

namespace ptxla::hlo {

absl::Status HeaderFromProto(const proto::HloModuleProto& in, Module* module) {
  if (in.name().empty()) module->set_name("module");
  const std::string& name = module->name();
  const bool readable = (absl::ascii_isalnum(name[0]) || name[0] == '_') &&
                        std::all_of(name.begin(), name.end(), [](char c) {
                          return absl::ascii_isgraph(c) && c != ',' && c != '"';
                        });
  if (!readable) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the module's name \"", absl::CHexEscape(in.name()), "\" is no name"));
  }
  ModuleConfig* c = module->mutable_config();
  c->is_scheduled = in.has_schedule() && !in.schedule().sequences().empty();
  for (const auto& e : in.input_output_alias().entries()) {
    InputOutputAlias a;
    a.output.assign(e.output_shape_index().begin(),
                    e.output_shape_index().end());
    a.parameter = e.parameter_number();
    a.parameter_index.assign(e.parameter_shape_index().begin(),
                             e.parameter_shape_index().end());
    a.kind = e.kind() == proto::MUST_ALIAS ? AliasKind::kMust : AliasKind::kMay;
    c->input_output_alias.push_back(std::move(a));
  }
  for (const auto& e : in.buffer_donor().entries()) {
    BufferDonor d;
    d.parameter = e.parameter_number();
    d.parameter_index.assign(e.parameter_shape_index().begin(),
                             e.parameter_shape_index().end());
    c->buffer_donors.push_back(std::move(d));
  }
  for (const auto& p : in.cross_program_prefetches()) {
    CrossProgramPrefetch prefetch;
    prefetch.parameter = p.parameter();
    prefetch.index.assign(p.index().begin(), p.index().end());
    prefetch.offset = p.offset();
    c->cross_program_prefetches.push_back(std::move(prefetch));
  }
  for (const auto& [key, value] : in.frontend_attributes().map()) {
    RETURN_IF_ERROR(CheckKey(key, "frontend attribute"));
    c->frontend_attributes[key] = value;
  }
  *module->mutable_stack_frames() = FromProto(in.stack_frame_index());
  const proto::HeaderProto& h = in.header();
  c->replica_count = h.replica_count();
  c->num_partitions = h.num_partitions();
  c->alias_passthrough_params = h.alias_passthrough_params();
  c->allow_spmd_sharding_propagation_to_parameters.assign(
      h.allow_spmd_sharding_propagation_to_parameters().begin(),
      h.allow_spmd_sharding_propagation_to_parameters().end());
  c->allow_spmd_sharding_propagation_to_output.assign(
      h.allow_spmd_sharding_propagation_to_output().begin(),
      h.allow_spmd_sharding_propagation_to_output().end());
  RETURN_IF_ERROR(
      CheckBraced(h.origin_recovery_table(), "origin_recovery_table"));
  RETURN_IF_ERROR(CheckBraced(h.debug_attributes(), "debug_attributes"));
  c->origin_recovery_table = h.origin_recovery_table();
  c->debug_attributes = h.debug_attributes();
  c->proto_rest = KeptFields(in);
  if (!in.has_host_program_shape() || h.free_layouts()) {
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(c->entry_layout, FromProto(in.host_program_shape()),
                   _ << "the program shape of the module");
  c->entry_layout->parameter_names.clear();
  return absl::OkStatus();
}

}  // namespace ptxla::hlo
