#include "hlo_backend/proto/call_attributes_from_proto.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/status.h"
#include "hlo_backend/ir/attribute_names.h"
#include "hlo_backend/proto/dimension_numbers_proto.h"
#include "hlo_backend/proto/enum_proto.h"
#include "hlo_backend/proto/literal_proto.h"
#include "hlo_backend/proto/shape_proto.h"

namespace ptxla::hlo {
namespace {

void ReadAliasing(const proto::HloInstructionProto& in,
                  std::vector<OutputOperandAlias>* list) {
  for (const auto& a : in.output_operand_aliasing()) {
    OutputOperandAlias alias;
    Copy(a.output_shape_index(), &alias.output);
    alias.operand = a.operand_index();
    Copy(a.operand_shape_index(), &alias.operand_index);
    list->push_back(std::move(alias));
  }
}

}  // namespace

absl::Status FromProto(const proto::HloInstructionProto& in, AsyncAttrs* out) {
  if (in.async_execution_thread() != "main") {
    out->execution_thread = in.async_execution_thread();
  }
  ReadAliasing(in, &out->aliasing);
  return absl::OkStatus();
}

absl::Status FromProto(const proto::HloInstructionProto& in, FusionAttrs* out) {
  ReadAliasing(in, &out->aliasing);
  return EnumFromName(kFusionKinds, in.fusion_kind(), "fusion kind",
                      &out->kind);
}

absl::Status FromProto(const proto::HloInstructionProto& in, CallAttrs* out) {
  out->is_composite = in.is_composite();
  ReadAliasing(in, &out->aliasing);
  return absl::OkStatus();
}

absl::Status FromProto(const proto::HloInstructionProto& in,
                       CustomCallAttrs* out) {
  out->target = in.custom_call_target();
  RETURN_IF_ERROR(EnumFromNumber(kCustomCallApis, in.custom_call_api_version(),
                                 "custom call API", &out->api_version));
  // The first version is not written in texts.
  if (out->api_version == CustomCallApi::kOriginal) {
    out->api_version = CustomCallApi::kUnspecified;
  }
  RETURN_IF_ERROR(EnumFromNumber(kCustomCallSchedules,
                                 in.custom_call_schedule(), "schedule",
                                 &out->schedule));
  out->has_side_effect = in.custom_call_has_side_effect();
  if (in.has_window()) out->window = FromProto(in.window());
  if (in.has_convolution_dimension_numbers()) {
    out->conv_dims = FromProto(in.convolution_dimension_numbers());
    RETURN_IF_ERROR(CheckSmallNumbers(*out->conv_dims));
  }
  out->feature_group_count = std::max<int64_t>(in.feature_group_count(), 1);
  out->batch_group_count = std::max<int64_t>(in.batch_group_count(), 1);
  RETURN_IF_ERROR(EnumFromNumber(kPaddingTypes, in.padding_type(),
                                 "padding type", &out->padding_type));
  RETURN_IF_ERROR(FromProto(in.precision_config(), &out->precision));
  if (in.constrain_layout()) {
    auto& list = out->operand_layout_constraints.emplace();
    for (const proto::ShapeProto& s : in.operand_shapes_with_layout()) {
      ASSIGN_OR_RETURN(Shape shape, hlo::FromProto(s));
      list.push_back(std::move(shape));
    }
  }
  if (in.has_literal()) {
    ASSIGN_OR_RETURN(Literal literal, hlo::FromProto(in.literal()));
    out->literal = std::make_shared<const Literal>(std::move(literal));
  }
  ReadAliasing(in, &out->aliasing);
  return absl::OkStatus();
}

}  // namespace ptxla::hlo
