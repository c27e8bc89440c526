// Attributes that are one field of one struct.
#include "hlo_backend/ir/attribute_handlers.h"
#include "hlo_backend/ir/attribute_names.h"

namespace ptxla::hlo {

// Reads with `read` if the opcode carries `Attrs`.
#define PTXLA_FIELD(name, Attrs, read)                      \
  {                                                         \
    name, [](P& p, I& i) -> Found {                         \
      auto* a = i.get<Attrs>();                             \
      return a == nullptr ? Found::kNotHere : From(p.read); \
    }                                                       \
  }

void AddFieldAttributes(AttributeTable* table) {
  static const std::pair<absl::string_view, AttributeHandler> kFields[] = {
      PTXLA_FIELD("parameter_replication", ParameterAttrs,
                  BoolList(&a->replicated_at_leaf_buffers)),
      PTXLA_FIELD("iota_dimension", IotaAttrs, Int(&a->dimension)),
      PTXLA_FIELD("index", TupleIndexAttrs, Int(&a->index)),
      PTXLA_FIELD("inferred_dimension", ReshapeAttrs,
                  Int(&a->inferred_dimension)),
      PTXLA_FIELD("slice", SliceAttrs, SliceValue(a)),
      PTXLA_FIELD("dynamic_slice_sizes", DynamicSliceAttrs, IntList(&a->sizes)),
      PTXLA_FIELD("padding", PadAttrs, PaddingValue(a)),
      PTXLA_FIELD("direction", CompareAttrs,
                  EnumValue(kCompareDirections, &a->direction)),
      PTXLA_FIELD("type", CompareAttrs, EnumValue(kCompareTypes, &a->type)),
      PTXLA_FIELD("lhs_ragged_dims", RaggedDotAttrs, IntList(&a->lhs_ragged)),
      PTXLA_FIELD("rhs_group_dims", RaggedDotAttrs, IntList(&a->rhs_group)),
      PTXLA_FIELD("convolution_kind", ConvAttrs,
                  EnumValue(kConvolutionKinds, &a->kind)),
      PTXLA_FIELD("offset_dims", GatherAttrs, IntList(&a->offset_dims)),
      PTXLA_FIELD("collapsed_slice_dims", GatherAttrs,
                  IntList(&a->collapsed_slice_dims)),
      PTXLA_FIELD("start_index_map", GatherAttrs, IntList(&a->start_index_map)),
      PTXLA_FIELD("operand_batching_dims", GatherAttrs,
                  IntList(&a->operand_batching_dims)),
      PTXLA_FIELD("start_indices_batching_dims", GatherAttrs,
                  IntList(&a->start_indices_batching_dims)),
      PTXLA_FIELD("update_window_dims", ScatterAttrs,
                  IntList(&a->update_window_dims)),
      PTXLA_FIELD("inserted_window_dims", ScatterAttrs,
                  IntList(&a->inserted_window_dims)),
      PTXLA_FIELD("scatter_dims_to_operand_dims", ScatterAttrs,
                  IntList(&a->scatter_dims_to_operand_dims)),
      PTXLA_FIELD("input_batching_dims", ScatterAttrs,
                  IntList(&a->input_batching_dims)),
      PTXLA_FIELD("scatter_indices_batching_dims", ScatterAttrs,
                  IntList(&a->scatter_indices_batching_dims)),
      PTXLA_FIELD("unique_indices", ScatterAttrs, Bool(&a->unique_indices)),
      PTXLA_FIELD("k", TopKAttrs, Int(&a->k)),
      PTXLA_FIELD("largest", TopKAttrs, Bool(&a->largest)),
      PTXLA_FIELD("is_reverse", ScanAttrs, Bool(&a->is_reverse)),
      PTXLA_FIELD("num_carries", ScanAttrs, Int(&a->num_carries)),
      PTXLA_FIELD("exponent_bits", ReducePrecisionAttrs,
                  IntAs(&a->exponent_bits)),
      PTXLA_FIELD("mantissa_bits", ReducePrecisionAttrs,
                  IntAs(&a->mantissa_bits)),
      PTXLA_FIELD("feature_index", BatchNormAttrs, Int(&a->feature_index)),
      PTXLA_FIELD("fft_type", FftAttrs, EnumValue(kFftTypes, &a->type)),
      PTXLA_FIELD("fft_length", FftAttrs, IntList(&a->length)),
      PTXLA_FIELD("left_side", TriangularSolveAttrs, Bool(&a->left_side)),
      PTXLA_FIELD("unit_diagonal", TriangularSolveAttrs,
                  Bool(&a->unit_diagonal)),
      PTXLA_FIELD("transpose_a", TriangularSolveAttrs,
                  EnumValue(kTransposes, &a->transpose_a)),
      PTXLA_FIELD("distribution", RngAttrs,
                  EnumValue(kRngDistributions, &a->distribution)),
      PTXLA_FIELD("delta", RngStateAttrs, Int(&a->delta)),
      PTXLA_FIELD("replica_groups", CollectiveAttrs,
                  ReplicaGroupsValue(&a->groups)),
      PTXLA_FIELD("use_global_device_ids", CollectiveAttrs,
                  Bool(&a->use_global_device_ids)),
      PTXLA_FIELD("constrain_layout", CollectiveAttrs,
                  Bool(&a->constrain_layout)),
      PTXLA_FIELD("is_host_transfer", SendRecvAttrs,
                  Bool(&a->is_host_transfer)),
      PTXLA_FIELD("kind", FusionAttrs, EnumValue(kFusionKinds, &a->kind)),
      PTXLA_FIELD("is_composite", CallAttrs, Bool(&a->is_composite)),
      PTXLA_FIELD("infeed_config", InfeedAttrs, String(&a->config)),
      PTXLA_FIELD("outfeed_config", OutfeedAttrs, String(&a->config)),
      PTXLA_FIELD("outfeed_shape", OutfeedAttrs, ShapeValue(&a->outfeed_shape)),
      PTXLA_FIELD("custom_call_target", CustomCallAttrs, String(&a->target)),
      PTXLA_FIELD("custom_call_has_side_effect", CustomCallAttrs,
                  Bool(&a->has_side_effect)),
      PTXLA_FIELD("api_version", CustomCallAttrs,
                  EnumValue(kCustomCallApis, &a->api_version)),
      PTXLA_FIELD("schedule", CustomCallAttrs,
                  EnumValue(kCustomCallSchedules, &a->schedule)),
      PTXLA_FIELD("padding_type", CustomCallAttrs,
                  EnumValue(kPaddingTypes, &a->padding_type)),
  };
  table->insert(std::begin(kFields), std::end(kFields));
}

#undef PTXLA_FIELD

}  // namespace ptxla::hlo
