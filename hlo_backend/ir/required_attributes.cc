#include "hlo_backend/ir/required_attributes.h"

namespace ptxla::hlo {

absl::Span<const absl::string_view> RequiredAttributes(Opcode opcode) {
  static constexpr absl::string_view kDirection[] = {"direction"};
  static constexpr absl::string_view kIota[] = {"iota_dimension"};
  static constexpr absl::string_view kIndex[] = {"index"};
  static constexpr absl::string_view kDims[] = {"dimensions"};
  static constexpr absl::string_view kSlice[] = {"slice"};
  static constexpr absl::string_view kSizes[] = {"dynamic_slice_sizes"};
  static constexpr absl::string_view kPadding[] = {"padding"};
  static constexpr absl::string_view kGather[] = {"slice_sizes",
                                                  "index_vector_dim"};
  static constexpr absl::string_view kScatter[] = {"index_vector_dim",
                                                   "to_apply"};
  static constexpr absl::string_view kConv[] = {"dim_labels"};
  static constexpr absl::string_view kWhile[] = {"condition", "body"};
  static constexpr absl::string_view kReduce[] = {"dimensions", "to_apply"};
  static constexpr absl::string_view kApply[] = {"to_apply"};
  static constexpr absl::string_view kSelect[] = {"select", "scatter"};
  static constexpr absl::string_view kFusion[] = {"kind", "calls"};
  static constexpr absl::string_view kTarget[] = {"custom_call_target"};
  static constexpr absl::string_view kPairs[] = {"source_target_pairs"};
  static constexpr absl::string_view kBits[] = {"exponent_bits",
                                                "mantissa_bits"};
  static constexpr absl::string_view kNorm[] = {"epsilon", "feature_index"};
  static constexpr absl::string_view kFft[] = {"fft_type", "fft_length"};
  static constexpr absl::string_view kDistribution[] = {"distribution"};
  static constexpr absl::string_view kAlgorithm[] = {"algorithm"};
  static constexpr absl::string_view kK[] = {"k"};
  switch (opcode) {
    case Opcode::kCompare:
      return kDirection;
    case Opcode::kIota:
      return kIota;
    case Opcode::kGetTupleElement:
      return kIndex;
    case Opcode::kTranspose:
    case Opcode::kReverse:
    case Opcode::kConcatenate:
    case Opcode::kSort:
    case Opcode::kAllGather:
    case Opcode::kGetDimensionSize:
    case Opcode::kSetDimensionSize:
      return kDims;
    case Opcode::kSlice:
      return kSlice;
    case Opcode::kDynamicSlice:
      return kSizes;
    case Opcode::kPad:
      return kPadding;
    case Opcode::kGather:
      return kGather;
    case Opcode::kScatter:
      return kScatter;
    case Opcode::kConvolution:
      return kConv;
    case Opcode::kWhile:
      return kWhile;
    case Opcode::kReduce:
      return kReduce;
    case Opcode::kReduceWindow:
    case Opcode::kMap:
    case Opcode::kCall:
    case Opcode::kAllReduce:
    case Opcode::kReduceScatter:
      return kApply;
    case Opcode::kSelectAndScatter:
      return kSelect;
    case Opcode::kFusion:
      return kFusion;
    case Opcode::kCustomCall:
      return kTarget;
    case Opcode::kCollectivePermute:
      return kPairs;
    case Opcode::kReducePrecision:
      return kBits;
    case Opcode::kBatchNormGrad:
    case Opcode::kBatchNormInference:
    case Opcode::kBatchNormTraining:
      return kNorm;
    case Opcode::kFft:
      return kFft;
    case Opcode::kRng:
      return kDistribution;
    case Opcode::kRngBitGenerator:
      return kAlgorithm;
    case Opcode::kTopK:
      return kK;
    default:
      return {};
  }
}

}  // namespace ptxla::hlo
