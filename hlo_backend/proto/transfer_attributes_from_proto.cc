#include "hlo_backend/proto/transfer_attributes_from_proto.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/status.h"
#include "hlo_backend/proto/shape_proto.h"
#include "hlo_backend/proto/sharding_proto.h"

namespace ptxla::hlo {
namespace {

std::optional<int64_t> ChannelOf(const proto::HloInstructionProto& in) {
  if (in.channel_id() == 0) return std::nullopt;
  return in.channel_id();
}

}  // namespace

absl::Status FromProto(const proto::HloInstructionProto& in,
                       CollectiveAttrs* out) {
  out->channel_id = ChannelOf(in);
  if (!out->channel_id && in.all_reduce_id() != 0) {
    out->channel_id = in.all_reduce_id();
  }
  ASSIGN_OR_RETURN(out->groups, GroupsFromProto(in));
  out->constrain_layout = in.constrain_layout();
  out->use_global_device_ids = in.use_global_device_ids();
  if (in.dimensions_size() > 0) out->dimension = in.dimensions(0);
  return absl::OkStatus();
}

absl::Status FromProto(const proto::HloInstructionProto& in,
                       absl::Span<Instruction* const> operands,
                       PermuteAttrs* out) {
  out->channel_id = ChannelOf(in);
  for (const auto& pair : in.source_target_pairs()) {
    out->source_target_pairs.emplace_back(pair.source(), pair.target());
  }
  if (in.dynamic_slice_sizes().empty()) return absl::OkStatus();
  const int rank =
      operands.empty() ? 0 : std::max(operands[0]->shape().rank(), 1);
  if (rank == 0 || in.dynamic_slice_sizes_size() % rank != 0) {
    return absl::InvalidArgumentError("slice sizes do not fit the operand");
  }
  for (int i = 0; i < in.dynamic_slice_sizes_size(); i += rank) {
    out->slice_sizes.emplace_back(in.dynamic_slice_sizes().begin() + i,
                                  in.dynamic_slice_sizes().begin() + i + rank);
  }
  return absl::OkStatus();
}

absl::Status FromProto(const proto::HloInstructionProto& in,
                       SendRecvAttrs* out) {
  out->channel_id = ChannelOf(in);
  out->is_host_transfer = in.is_host_transfer();
  return absl::OkStatus();
}

absl::Status FromProto(const proto::HloInstructionProto& in,
                       CopyStartAttrs* out) {
  if (in.has_cross_program_prefetch_index()) {
    out->cross_program_prefetch_index = in.cross_program_prefetch_index();
  } else if (in.is_cross_program_prefetch()) {
    out->cross_program_prefetch_index = 0;
  }
  return absl::OkStatus();
}

absl::Status FromProto(const proto::HloInstructionProto& in, InfeedAttrs* out) {
  out->config = in.infeed_config();
  return absl::OkStatus();
}

absl::Status FromProto(const proto::HloInstructionProto& in,
                       OutfeedAttrs* out) {
  out->config = in.outfeed_config();
  if (!in.has_outfeed_shape() ||
      in.outfeed_shape().element_type() == proto::PRIMITIVE_TYPE_INVALID) {
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(out->outfeed_shape, hlo::FromProto(in.outfeed_shape()));
  return absl::OkStatus();
}

}  // namespace ptxla::hlo
