#include "hlo_backend/proto/kept_fields.h"

namespace ptxla::hlo {

std::string KeptFields(const proto::HloInstructionProto& in) {
  proto::HloInstructionProto rest;
  if (in.has_backend_config_payload()) {
    *rest.mutable_backend_config_payload() = in.backend_config_payload();
  }
  if (in.has_dynamic_root()) rest.set_has_dynamic_root(true);
  if (in.has_sparsity_config()) {
    *rest.mutable_sparsity_config() = in.sparsity_config();
  }
  const proto::OpMetadata& m = in.metadata();
  if (m.has_metadata_payload()) {
    *rest.mutable_metadata()->mutable_metadata_payload() = m.metadata_payload();
  }
  if (m.has_profile_info()) {
    *rest.mutable_metadata()->mutable_profile_info() = m.profile_info();
  }
  const auto& unknown = in.GetReflection()->GetUnknownFields(in);
  if (!unknown.empty()) {
    rest.GetReflection()->MutableUnknownFields(&rest)->MergeFrom(unknown);
  }
  return rest.SerializeAsString();
}

std::string KeptFields(const proto::HloModuleProto& in) {
  proto::HloModuleProto rest;
  rest.set_id(in.id());
  rest.set_is_dynamic(in.is_dynamic());
  if (in.has_spmd_output_sharding()) {
    *rest.mutable_spmd_output_sharding() = in.spmd_output_sharding();
  }
  *rest.mutable_profile_info() = in.profile_info();
  *rest.mutable_spmd_parameters_shardings() = in.spmd_parameters_shardings();
  if (in.has_device_assignment()) {
    *rest.mutable_device_assignment() = in.device_assignment();
  }
  rest.set_use_auto_spmd_partitioning(in.use_auto_spmd_partitioning());
  if (in.has_original_value_recovery_table()) {
    *rest.mutable_original_value_recovery_table() =
        in.original_value_recovery_table();
  }
  rest.set_device_type(in.device_type());
  *rest.mutable_payloads() = in.payloads();
  if (in.has_pjrt_id()) rest.set_pjrt_id(in.pjrt_id());
  *rest.mutable_debug_attributes() = in.debug_attributes();
  const auto& unknown = in.GetReflection()->GetUnknownFields(in);
  if (!unknown.empty()) {
    rest.GetReflection()->MutableUnknownFields(&rest)->MergeFrom(unknown);
  }
  return rest.SerializeAsString();
}

}  // namespace ptxla::hlo
