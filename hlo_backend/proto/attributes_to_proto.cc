#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/ir/attribute_names.h"
#include "hlo_backend/proto/attribute_proto.h"
#include "hlo_backend/proto/dimension_numbers_proto.h"
#include "hlo_backend/proto/literal_proto.h"
#include "hlo_backend/proto/repeated_fields.h"
#include "hlo_backend/proto/shape_proto.h"
#include "hlo_backend/proto/sharding_proto.h"

namespace ptxla::hlo {
namespace {

// XLA wants the order of the values written out; the instruction's own shape
// says whether the text had one.
void AddLayouts(proto::ShapeProto* shape) {
  for (auto& element : *shape->mutable_tuple_shapes()) AddLayouts(&element);
  if (shape->has_layout() || shape->element_type() == proto::TUPLE) return;
  for (int d = shape->dimensions_size() - 1; d >= 0; --d) {
    shape->mutable_layout()->add_minor_to_major(d);
  }
  shape->mutable_layout()->set_tail_padding_alignment_in_elements(1);
}
void AddLayouts(proto::LiteralProto* literal) {
  AddLayouts(literal->mutable_shape());
  for (auto& element : *literal->mutable_tuple_literals()) {
    AddLayouts(&element);
  }
}

class Writer {
 public:
  Writer(const Instruction& i, proto::HloInstructionProto* out)
      : i_(i), out_(*out) {}

  const absl::Status& status() const { return status_; }

  void operator()(const std::monostate&) {}
  template <class T>
  void operator()(const Boxed<T>& box) {
    (*this)(box.get());
  }
  void operator()(const ConstantAttrs& a) {
    status_ = hlo::ToProto(*a.literal, out_.mutable_literal());
    AddLayouts(out_.mutable_literal());
  }
  void operator()(const ParameterAttrs& a) {
    out_.set_parameter_number(a.number);
    for (bool b : a.replicated_at_leaf_buffers) {
      out_.mutable_parameter_replication()->add_replicated_at_leaf_buffers(b);
    }
  }
  void operator()(const IotaAttrs& a) { out_.add_dimensions(a.dimension); }
  void operator()(const TupleIndexAttrs& a) { out_.set_tuple_index(a.index); }
  void operator()(const DimensionsAttrs& a) { Dimensions(a.dimensions); }
  void operator()(const ReshapeAttrs& a) {
    if (a.inferred_dimension >= 0) out_.add_dimensions(a.inferred_dimension);
  }
  void operator()(const SliceAttrs& a) {
    for (size_t d = 0; d < a.starts.size(); ++d) {
      auto* slice = out_.add_slice_dimensions();
      slice->set_start(a.starts[d]);
      slice->set_limit(a.limits[d]);
      slice->set_stride(a.strides[d]);
    }
  }
  void operator()(const DynamicSliceAttrs& a) {
    AddAll(a.sizes, out_.mutable_dynamic_slice_sizes());
  }
  void operator()(const PadAttrs& a) {
    for (const PaddingDim& d : a.dims) {
      auto* dim = out_.mutable_padding_config()->add_dimensions();
      dim->set_edge_padding_low(d.low);
      dim->set_edge_padding_high(d.high);
      dim->set_interior_padding(d.interior);
    }
  }
  void operator()(const CompareAttrs& a) {
    out_.set_comparison_direction(
        std::string(CompareDirectionName(a.direction)));
    CompareType type = a.type;
    if (type == CompareType::kDefault) {
      const PrimitiveType operand = i_.operand(0)->shape().type();
      type = IsFloat(operand) || IsComplex(operand) ? CompareType::kFloat
             : IsSigned(operand)                    ? CompareType::kSigned
                                                    : CompareType::kUnsigned;
    }
    out_.set_comparison_type(std::string(NameOf(kCompareTypes, type)));
  }
  void operator()(const DotAttrs& a) {
    ToProto(a, out_.mutable_dot_dimension_numbers());
    ToProto(a.precision, out_.mutable_precision_config());
    NoSparsity(a.sparsity);
  }
  void operator()(const RaggedDotAttrs& a) {
    auto* ragged = out_.mutable_ragged_dot_dimension_numbers();
    ToProto(a.dot, ragged->mutable_dot_dimension_numbers());
    AddAll(a.lhs_ragged, ragged->mutable_lhs_ragged_dimensions());
    AddAll(a.rhs_group, ragged->mutable_rhs_group_dimensions());
    ToProto(a.dot.precision, out_.mutable_precision_config());
  }
  void operator()(const ConvAttrs& a) {
    ToProto(a.window, out_.mutable_window());
    ToProto(a.dims, out_.mutable_convolution_dimension_numbers());
    out_.set_feature_group_count(a.feature_group_count);
    out_.set_batch_group_count(a.batch_group_count);
    ToProto(a.precision, out_.mutable_precision_config());
    out_.set_conv_kind(static_cast<proto::ConvolutionKind>(a.kind));
    NoSparsity(a.sparsity);
  }
  void operator()(const WindowAttrs& a) {
    ToProto(a.window, out_.mutable_window());
  }
  void operator()(const GatherAttrs& a) {
    auto* g = out_.mutable_gather_dimension_numbers();
    AddAll(a.offset_dims, g->mutable_offset_dims());
    AddAll(a.collapsed_slice_dims, g->mutable_collapsed_slice_dims());
    AddAll(a.start_index_map, g->mutable_start_index_map());
    AddAll(a.operand_batching_dims, g->mutable_operand_batching_dims());
    AddAll(a.start_indices_batching_dims,
           g->mutable_start_indices_batching_dims());
    g->set_index_vector_dim(a.index_vector_dim);
    AddAll(a.slice_sizes, out_.mutable_gather_slice_sizes());
    out_.set_indices_are_sorted(a.indices_are_sorted);
  }
  void operator()(const ScatterAttrs& a) {
    auto* s = out_.mutable_scatter_dimension_numbers();
    AddAll(a.update_window_dims, s->mutable_update_window_dims());
    AddAll(a.inserted_window_dims, s->mutable_inserted_window_dims());
    AddAll(a.scatter_dims_to_operand_dims,
           s->mutable_scatter_dims_to_operand_dims());
    AddAll(a.input_batching_dims, s->mutable_input_batching_dims());
    AddAll(a.scatter_indices_batching_dims,
           s->mutable_scatter_indices_batching_dims());
    s->set_index_vector_dim(a.index_vector_dim);
    out_.set_indices_are_sorted(a.indices_are_sorted);
    out_.set_unique_indices(a.unique_indices);
  }
  void operator()(const SortAttrs& a) {
    out_.add_dimensions(a.dimension);
    out_.set_is_stable(a.is_stable);
  }
  void operator()(const TopKAttrs& a) {
    out_.set_k(a.k);
    out_.set_largest(a.largest);
    out_.set_is_stable(a.is_stable);
  }
  void operator()(const ScanAttrs& a) {
    Dimensions(a.dimensions);
    out_.set_num_carries(a.num_carries);
    out_.set_is_reverse(a.is_reverse);
    if (a.is_associative) {
      out_.set_is_associative(*a.is_associative ? proto::TRI_STATE_TRUE
                                                : proto::TRI_STATE_FALSE);
    }
  }
  void operator()(const ReducePrecisionAttrs& a) {
    out_.set_exponent_bits(a.exponent_bits);
    out_.set_mantissa_bits(a.mantissa_bits);
  }
  void operator()(const BatchNormAttrs& a) {
    out_.set_epsilon(a.epsilon);
    out_.set_feature_index(a.feature_index);
  }
  void operator()(const FftAttrs& a) {
    out_.set_fft_type(static_cast<proto::FftType>(a.type));
    AddAll(a.length, out_.mutable_fft_length());
  }
  void operator()(const TriangularSolveAttrs& a) {
    auto* t = out_.mutable_triangular_solve_options();
    t->set_left_side(a.left_side);
    t->set_lower(a.lower);
    t->set_unit_diagonal(a.unit_diagonal);
    t->set_transpose_a(
        static_cast<proto::TriangularSolveOptions::Transpose>(a.transpose_a));
  }
  void operator()(const CholeskyAttrs& a) {
    out_.mutable_cholesky_options()->set_lower(a.lower);
  }
  void operator()(const RngAttrs& a) {
    out_.set_distribution(a.distribution == RngDistribution::kUniform
                              ? proto::RNG_UNIFORM
                              : proto::RNG_NORMAL);
  }
  void operator()(const RngBitGeneratorAttrs& a) {
    out_.set_rng_algorithm(static_cast<proto::RandomAlgorithm>(a.algorithm));
  }
  void operator()(const RngStateAttrs& a) { out_.set_delta(a.delta); }
  void operator()(const ResultAccuracyAttrs& a) {
    using Mode = ResultAccuracyAttrs::Mode;
    if (a.mode == Mode::kDefault) return;
    auto* accuracy = out_.mutable_result_accuracy();
    if (a.mode == Mode::kHighest) {
      accuracy->set_mode(proto::ResultAccuracy::HIGHEST);
      return;
    }
    accuracy->mutable_tolerance()->set_atol(a.atol);
    accuracy->mutable_tolerance()->set_rtol(a.rtol);
    accuracy->mutable_tolerance()->set_ulps(a.ulps);
  }
  void operator()(const CollectiveAttrs& a) {
    if (a.channel_id) out_.set_channel_id(*a.channel_id);
    hlo::ToProto(a.groups, &out_);
    out_.set_constrain_layout(a.constrain_layout);
    if (a.dimension >= 0) out_.add_dimensions(a.dimension);
    out_.set_use_global_device_ids(a.use_global_device_ids);
  }
  void operator()(const PermuteAttrs& a) {
    if (a.channel_id) out_.set_channel_id(*a.channel_id);
    for (const auto& [source, target] : a.source_target_pairs) {
      auto* pair = out_.add_source_target_pairs();
      pair->set_source(source);
      pair->set_target(target);
    }
    for (const auto& sizes : a.slice_sizes) {
      AddAll(sizes, out_.mutable_dynamic_slice_sizes());
    }
  }
  void operator()(const SendRecvAttrs& a) {
    if (a.channel_id) out_.set_channel_id(*a.channel_id);
    out_.set_is_host_transfer(a.is_host_transfer);
  }
  void operator()(const AsyncAttrs& a) {
    out_.set_async_execution_thread(
        a.execution_thread.empty() ? "main" : a.execution_thread);
    Aliasing(a.aliasing);
  }
  void operator()(const CopyStartAttrs& a) {
    if (a.cross_program_prefetch_index) {
      out_.set_cross_program_prefetch_index(
          static_cast<int32_t>(*a.cross_program_prefetch_index));
    }
  }
  void operator()(const FusionAttrs& a) {
    out_.set_fusion_kind(std::string(FusionKindName(a.kind)));
    Aliasing(a.aliasing);
  }
  void operator()(const CallAttrs& a) {
    out_.set_is_composite(a.is_composite);
    Aliasing(a.aliasing);
  }
  void operator()(const InfeedAttrs& a) { out_.set_infeed_config(a.config); }
  void operator()(const OutfeedAttrs& a) {
    out_.set_outfeed_config(a.config);
    if (a.outfeed_shape.type() != PrimitiveType::kInvalid) {
      status_ = hlo::ToProto(a.outfeed_shape, out_.mutable_outfeed_shape());
    }
  }
  void operator()(const DomainAttrs& a) {
    hlo::ToProto(a.entry, out_.mutable_domain_exit_sharding());
    hlo::ToProto(a.exit, out_.mutable_domain_entry_sharding());
  }
  void operator()(const CustomCallAttrs& a) {
    out_.set_custom_call_target(a.target);
    // Texts name no version where it is the first.
    out_.set_custom_call_api_version(
        a.api_version == CustomCallApi::kUnspecified
            ? proto::API_VERSION_ORIGINAL
            : static_cast<proto::CustomCallApiVersion>(a.api_version));
    out_.set_custom_call_schedule(
        static_cast<proto::CustomCallSchedule>(a.schedule));
    out_.set_custom_call_has_side_effect(a.has_side_effect);
    if (a.window) ToProto(*a.window, out_.mutable_window());
    if (a.conv_dims) {
      ToProto(*a.conv_dims, out_.mutable_convolution_dimension_numbers());
    }
    out_.set_feature_group_count(a.feature_group_count);
    out_.set_batch_group_count(a.batch_group_count);
    ToProto(a.precision, out_.mutable_precision_config());
    out_.set_padding_type(static_cast<proto::PaddingType>(a.padding_type));
    if (a.operand_layout_constraints) {
      out_.set_constrain_layout(true);
      for (const Shape& s : *a.operand_layout_constraints) {
        Keep(hlo::ToProto(s, out_.add_operand_shapes_with_layout()));
      }
    }
    if (a.literal) {
      Keep(hlo::ToProto(*a.literal, out_.mutable_literal()));
    }
    Aliasing(a.aliasing);
  }

 private:
  template <class List>
  void Dimensions(const List& list) {
    AddAll(list, out_.mutable_dimensions());
  }
  void Keep(absl::Status status) {
    if (status_.ok()) status_ = std::move(status);
  }
  void NoSparsity(const std::string& text) {
    if (!text.empty()) {
      Keep(absl::UnimplementedError(
          absl::StrCat("no proto is made of sparsity_config=", text)));
    }
  }
  void Aliasing(const std::vector<OutputOperandAlias>& list) {
    for (const OutputOperandAlias& a : list) {
      auto* alias = out_.add_output_operand_aliasing();
      AddAll(a.output, alias->mutable_output_shape_index());
      alias->set_operand_index(a.operand);
      AddAll(a.operand_index, alias->mutable_operand_shape_index());
    }
  }

  const Instruction& i_;
  proto::HloInstructionProto& out_;
  absl::Status status_;
};

}  // namespace

absl::Status AttributesToProto(const Instruction& instruction,
                               proto::HloInstructionProto* out) {
  Writer writer(instruction, out);
  std::visit(writer, instruction.attributes());
  return writer.status();
}

}  // namespace ptxla::hlo
