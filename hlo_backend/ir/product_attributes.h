// Attributes of the instructions with dimension numbers: dot, ragged-dot,
// convolution, gather, scatter.
//
// Tie() names the fields once; equality and hashing (attributes.h) use it.
#ifndef PTXLA_HLO_BACKEND_IR_PRODUCT_ATTRIBUTES_H_
#define PTXLA_HLO_BACKEND_IR_PRODUCT_ATTRIBUTES_H_

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "hlo_backend/ir/layout.h"
#include "hlo_backend/ir/window.h"

namespace ptxla::hlo {

enum class Precision : uint8_t { kDefault, kHigh, kHighest };

// Numbers as in PrecisionConfig.Algorithm of xla_data.proto.
enum class DotAlgorithm : uint8_t {
  kUnset = 0,
  kAnyF8AnyF8F32 = 1,
  kAnyF8AnyF8F32FastAccum = 2,
  kF16F16F16 = 3,
  kF16F16F32 = 4,
  kBf16Bf16Bf16 = 5,
  kBf16Bf16F32 = 6,
  kBf16Bf16F32X3 = 7,
  kBf16Bf16F32X6 = 8,
  kTf32Tf32F32 = 9,
  kTf32Tf32F32X3 = 10,
  kF32F32F32 = 11,
  kF64F64F64 = 12,
  kBf16Bf16F32X9 = 13,
};

// operand_precision={default,highest}, algorithm=dot_bf16_bf16_f32.
struct PrecisionConfig {
  absl::InlinedVector<Precision, 2> operands;  // empty: all default
  DotAlgorithm algorithm = DotAlgorithm::kUnset;

  // The precision of an operand, kDefault when not given.
  Precision operand(int i) const {
    return i < static_cast<int>(operands.size()) ? operands[i]
                                                 : Precision::kDefault;
  }
  auto Tie() const { return std::tie(operands, algorithm); }
};

// dot, scaled-dot. Output: batch, then lhs free, then rhs free dimensions.
struct DotAttrs {
  DimVector lhs_batch, lhs_contracting, rhs_batch, rhs_contracting;
  PrecisionConfig precision;
  std::string sparsity;  // as it was read
  auto Tie() const {
    return std::tie(lhs_batch, lhs_contracting, rhs_batch, rhs_contracting,
                    precision, sparsity);
  }
};

struct RaggedDotAttrs {  // ragged-dot(lhs, rhs, group_sizes)
  DotAttrs dot;
  DimVector lhs_ragged, rhs_group;
  auto Tie() const { return std::tie(dot, lhs_ragged, rhs_group); }
};

// dim_labels=b01f_01io->b01f: which dimension plays which role.
struct ConvDims {
  int64_t input_batch = 0, input_feature = 0;
  int64_t kernel_input_feature = 0, kernel_output_feature = 0;
  int64_t output_batch = 0, output_feature = 0;
  DimVector input_spatial, kernel_spatial, output_spatial;

  std::string ToString() const;  // "b01f_01io->b01f"
  // Each dimension of the three arrays, which have as many, has one meaning.
  bool AreComplete() const;
  auto Tie() const {
    return std::tie(input_batch, input_feature, kernel_input_feature,
                    kernel_output_feature, output_batch, output_feature,
                    input_spatial, kernel_spatial, output_spatial);
  }
};

enum class ConvolutionKind : uint8_t { kUnset, kFprop, kDgrad, kWgrad };

struct ConvAttrs {  // convolution
  Window window;
  ConvDims dims;
  int64_t feature_group_count = 1, batch_group_count = 1;
  PrecisionConfig precision;
  ConvolutionKind kind = ConvolutionKind::kUnset;
  std::string sparsity;  // as it was read
  auto Tie() const {
    return std::tie(window, dims, feature_group_count, batch_group_count,
                    precision, kind, sparsity);
  }
};

struct GatherAttrs {  // gather(operand, start_indices)
  DimVector offset_dims, collapsed_slice_dims, start_index_map;
  DimVector operand_batching_dims, start_indices_batching_dims;
  int64_t index_vector_dim = 0;
  DimVector slice_sizes;
  bool indices_are_sorted = false;
  auto Tie() const {
    return std::tie(offset_dims, collapsed_slice_dims, start_index_map,
                    operand_batching_dims, start_indices_batching_dims,
                    index_vector_dim, slice_sizes, indices_are_sorted);
  }
};

struct ScatterAttrs {  // scatter(operands..., indices, updates...)
  DimVector update_window_dims, inserted_window_dims;
  DimVector scatter_dims_to_operand_dims;
  DimVector input_batching_dims, scatter_indices_batching_dims;
  int64_t index_vector_dim = 0;
  bool indices_are_sorted = false, unique_indices = false;
  auto Tie() const {
    return std::tie(update_window_dims, inserted_window_dims,
                    scatter_dims_to_operand_dims, input_batching_dims,
                    scatter_indices_batching_dims, index_vector_dim,
                    indices_are_sorted, unique_indices);
  }
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_IR_PRODUCT_ATTRIBUTES_H_
