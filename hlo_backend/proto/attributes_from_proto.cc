#include <algorithm>
#include <utility>

#include "base/status.h"
#include "hlo_backend/ir/attribute_names.h"
#include "hlo_backend/proto/attribute_proto.h"
#include "hlo_backend/proto/call_attributes_from_proto.h"
#include "hlo_backend/proto/dimension_numbers_proto.h"
#include "hlo_backend/proto/enum_proto.h"
#include "hlo_backend/proto/literal_proto.h"
#include "hlo_backend/proto/sharding_proto.h"
#include "hlo_backend/proto/transfer_attributes_from_proto.h"

namespace ptxla::hlo {
namespace {

// Fills the struct that the variant holds.
class Reader {
 public:
  Reader(const proto::HloInstructionProto& in,
         absl::Span<Instruction* const> operands)
      : in_(in), operands_(operands) {}

  absl::Status operator()(std::monostate&) { return absl::OkStatus(); }
  template <class T>
  absl::Status operator()(Boxed<T>& box) {
    return (*this)(*box.mutable_get());
  }
  absl::Status operator()(ConstantAttrs& a) {
    ASSIGN_OR_RETURN(Literal literal, hlo::FromProto(in_.literal()));
    a.literal = std::make_shared<const Literal>(std::move(literal));
    return absl::OkStatus();
  }
  absl::Status operator()(ParameterAttrs& a) {
    a.number = in_.parameter_number();
    Copy(in_.parameter_replication().replicated_at_leaf_buffers(),
         &a.replicated_at_leaf_buffers);
    return absl::OkStatus();
  }
  absl::Status operator()(IotaAttrs& a) { return OneDimension(&a.dimension); }
  absl::Status operator()(TupleIndexAttrs& a) {
    a.index = in_.tuple_index();
    return absl::OkStatus();
  }
  absl::Status operator()(DimensionsAttrs& a) {
    Copy(in_.dimensions(), &a.dimensions);
    return absl::OkStatus();
  }
  absl::Status operator()(ReshapeAttrs& a) {
    if (in_.dimensions_size() > 0) a.inferred_dimension = in_.dimensions(0);
    return absl::OkStatus();
  }
  absl::Status operator()(SliceAttrs& a) {
    for (const auto& d : in_.slice_dimensions()) {
      a.starts.push_back(d.start());
      a.limits.push_back(d.limit());
      a.strides.push_back(d.stride());
    }
    return absl::OkStatus();
  }
  absl::Status operator()(DynamicSliceAttrs& a) {
    Copy(in_.dynamic_slice_sizes(), &a.sizes);
    return absl::OkStatus();
  }
  absl::Status operator()(PadAttrs& a) {
    for (const auto& d : in_.padding_config().dimensions()) {
      a.dims.push_back(
          {d.edge_padding_low(), d.edge_padding_high(), d.interior_padding()});
    }
    return absl::OkStatus();
  }
  absl::Status operator()(CompareAttrs& a) {
    RETURN_IF_ERROR(EnumFromName(kCompareDirections, in_.comparison_direction(),
                                 "comparison direction", &a.direction));
    RETURN_IF_ERROR(EnumFromName(kCompareTypes, in_.comparison_type(),
                                 "comparison type", &a.type));
    // What the operands imply is not written in texts.
    if (a.type != CompareType::kTotalOrder) a.type = CompareType::kDefault;
    return absl::OkStatus();
  }
  absl::Status operator()(DotAttrs& a) {
    FromProto(in_.dot_dimension_numbers(), &a);
    return FromProto(in_.precision_config(), &a.precision);
  }
  absl::Status operator()(RaggedDotAttrs& a) {
    const auto& ragged = in_.ragged_dot_dimension_numbers();
    FromProto(ragged.dot_dimension_numbers(), &a.dot);
    Copy(ragged.lhs_ragged_dimensions(), &a.lhs_ragged);
    Copy(ragged.rhs_group_dimensions(), &a.rhs_group);
    return FromProto(in_.precision_config(), &a.dot.precision);
  }
  absl::Status operator()(ConvAttrs& a) {
    a.window = FromProto(in_.window());
    a.dims = FromProto(in_.convolution_dimension_numbers());
    RETURN_IF_ERROR(CheckConvDims(a.dims));
    a.feature_group_count = std::max<int64_t>(in_.feature_group_count(), 1);
    a.batch_group_count = std::max<int64_t>(in_.batch_group_count(), 1);
    RETURN_IF_ERROR(EnumFromNumber(kConvolutionKinds, in_.conv_kind(),
                                   "convolution kind", &a.kind));
    return FromProto(in_.precision_config(), &a.precision);
  }
  absl::Status operator()(WindowAttrs& a) {
    a.window = FromProto(in_.window());
    return absl::OkStatus();
  }
  absl::Status operator()(GatherAttrs& a) {
    const auto& g = in_.gather_dimension_numbers();
    Copy(g.offset_dims(), &a.offset_dims);
    Copy(g.collapsed_slice_dims(), &a.collapsed_slice_dims);
    Copy(g.start_index_map(), &a.start_index_map);
    Copy(g.operand_batching_dims(), &a.operand_batching_dims);
    Copy(g.start_indices_batching_dims(), &a.start_indices_batching_dims);
    a.index_vector_dim = g.index_vector_dim();
    Copy(in_.gather_slice_sizes(), &a.slice_sizes);
    a.indices_are_sorted = in_.indices_are_sorted();
    return absl::OkStatus();
  }
  absl::Status operator()(ScatterAttrs& a) {
    const auto& s = in_.scatter_dimension_numbers();
    Copy(s.update_window_dims(), &a.update_window_dims);
    Copy(s.inserted_window_dims(), &a.inserted_window_dims);
    Copy(s.scatter_dims_to_operand_dims(), &a.scatter_dims_to_operand_dims);
    Copy(s.input_batching_dims(), &a.input_batching_dims);
    Copy(s.scatter_indices_batching_dims(), &a.scatter_indices_batching_dims);
    a.index_vector_dim = s.index_vector_dim();
    a.indices_are_sorted = in_.indices_are_sorted();
    a.unique_indices = in_.unique_indices();
    return absl::OkStatus();
  }
  absl::Status operator()(SortAttrs& a) {
    a.is_stable = in_.is_stable();
    return OneDimension(&a.dimension);
  }
  absl::Status operator()(TopKAttrs& a) {
    a.k = in_.k();
    a.largest = in_.largest();
    a.is_stable = in_.is_stable();
    return absl::OkStatus();
  }
  absl::Status operator()(ScanAttrs& a) {
    Copy(in_.dimensions(), &a.dimensions);
    a.num_carries = in_.num_carries();
    a.is_reverse = in_.is_reverse();
    if (in_.is_associative() != proto::TRI_STATE_UNSPECIFIED) {
      a.is_associative = in_.is_associative() == proto::TRI_STATE_TRUE;
    }
    return absl::OkStatus();
  }
  absl::Status operator()(ReducePrecisionAttrs& a) {
    a.exponent_bits = in_.exponent_bits();
    a.mantissa_bits = in_.mantissa_bits();
    return absl::OkStatus();
  }
  absl::Status operator()(BatchNormAttrs& a) {
    a.epsilon = in_.epsilon();
    a.feature_index = in_.feature_index();
    return absl::OkStatus();
  }
  absl::Status operator()(FftAttrs& a) {
    Copy(in_.fft_length(), &a.length);
    return EnumFromNumber(kFftTypes, in_.fft_type(), "FFT type", &a.type);
  }
  absl::Status operator()(TriangularSolveAttrs& a) {
    const auto& t = in_.triangular_solve_options();
    a.left_side = t.left_side();
    a.lower = t.lower();
    a.unit_diagonal = t.unit_diagonal();
    return EnumFromNumber(kTransposes, t.transpose_a(), "transpose",
                          &a.transpose_a);
  }
  absl::Status operator()(CholeskyAttrs& a) {
    a.lower = in_.cholesky_options().lower();
    return absl::OkStatus();
  }
  absl::Status operator()(RngAttrs& a) {
    return EnumFromNumber(kRngDistributions, in_.distribution() - 1,
                          "distribution", &a.distribution);
  }
  absl::Status operator()(RngBitGeneratorAttrs& a) {
    return EnumFromNumber(kRngAlgorithms, in_.rng_algorithm(), "rng algorithm",
                          &a.algorithm);
  }
  absl::Status operator()(RngStateAttrs& a) {
    a.delta = in_.delta();
    return absl::OkStatus();
  }
  absl::Status operator()(ResultAccuracyAttrs& a) {
    using Mode = ResultAccuracyAttrs::Mode;
    const auto& accuracy = in_.result_accuracy();
    if (accuracy.has_tolerance()) {
      a.mode = Mode::kTolerance;
      a.atol = accuracy.tolerance().atol();
      a.rtol = accuracy.tolerance().rtol();
      a.ulps = accuracy.tolerance().ulps();
    } else if (accuracy.mode() == proto::ResultAccuracy::HIGHEST) {
      a.mode = Mode::kHighest;
    }
    return absl::OkStatus();
  }
  absl::Status operator()(DomainAttrs& a) {
    a.kind = "sharding";
    // The proto's entry is the side of the operand: the text's exit.
    ASSIGN_OR_RETURN(a.entry, hlo::FromProto(in_.domain_exit_sharding()));
    ASSIGN_OR_RETURN(a.exit, hlo::FromProto(in_.domain_entry_sharding()));
    return absl::OkStatus();
  }
  absl::Status operator()(PermuteAttrs& a) {
    return FromProto(in_, operands_, &a);
  }
  // Of transfers and calls, which have files of their own.
  template <class T>
  absl::Status operator()(T& a) {
    return FromProto(in_, &a);
  }

 private:
  absl::Status OneDimension(int64_t* dimension) {
    if (in_.dimensions_size() != 1) {
      return absl::InvalidArgumentError("it needs one dimension");
    }
    *dimension = in_.dimensions(0);
    return absl::OkStatus();
  }

  const proto::HloInstructionProto& in_;
  absl::Span<Instruction* const> operands_;
};

}  // namespace

absl::Status AttributesFromProto(const proto::HloInstructionProto& in,
                                 Opcode opcode,
                                 absl::Span<Instruction* const> operands,
                                 Attributes* attributes) {
  *attributes = DefaultAttributes(opcode);
  return std::visit(Reader(in, operands), *attributes);
}

}  // namespace ptxla::hlo
