// What opcodes need besides operands, shape and called computations: one small
// struct per family, which attributes.h holds in a variant.
//
//   DotAttrs dot;
//   dot.lhs_contracting = {1};
//
// The comment of each struct says which opcodes carry it; those that are not
// named carry std::monostate. Tie() names the fields once; equality and hashing
// use it.
#ifndef PTXLA_HLO_BACKEND_IR_ATTRIBUTE_STRUCTS_H_
#define PTXLA_HLO_BACKEND_IR_ATTRIBUTE_STRUCTS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "hlo_backend/ir/opcode.h"
#include "hlo_backend/ir/product_attributes.h"
#include "hlo_backend/ir/replica_groups.h"
#include "hlo_backend/ir/shape.h"
#include "hlo_backend/ir/sharding.h"
#include "hlo_backend/ir/window.h"

namespace ptxla::hlo {

class Literal;

struct ParameterAttrs {  // parameter
  int64_t number = 0;
  std::vector<bool> replicated_at_leaf_buffers;
  auto Tie() const { return std::tie(number, replicated_at_leaf_buffers); }
};
struct ConstantAttrs {  // constant; never null
  std::shared_ptr<const Literal> literal;
  auto Tie() const { return std::tie(literal); }
};
struct IotaAttrs {  // iota
  int64_t dimension = 0;
  auto Tie() const { return std::tie(dimension); }
};
struct TupleIndexAttrs {  // get-tuple-element
  int64_t index = 0;
  auto Tie() const { return std::tie(index); }
};
// broadcast (operand dimension i becomes output dimension dimensions[i]),
// transpose (output dimension i is operand dimension dimensions[i]), reverse,
// reduce (the dimensions that go), map, concatenate, get-dimension-size,
// set-dimension-size (one dimension each).
struct DimensionsAttrs {
  DimVector dimensions;
  auto Tie() const { return std::tie(dimensions); }
};
struct ReshapeAttrs {  // reshape; -1: not given
  int64_t inferred_dimension = -1;
  auto Tie() const { return std::tie(inferred_dimension); }
};
struct SliceAttrs {  // slice: start <= i < limit in steps of stride
  DimVector starts, limits, strides;
  auto Tie() const { return std::tie(starts, limits, strides); }
};
struct DynamicSliceAttrs {  // dynamic-slice
  DimVector sizes;
  auto Tie() const { return std::tie(sizes); }
};
struct PaddingDim {
  int64_t low = 0, high = 0, interior = 0;
  bool operator==(const PaddingDim& o) const {
    return low == o.low && high == o.high && interior == o.interior;
  }
};
struct PadAttrs {  // pad
  absl::InlinedVector<PaddingDim, 4> dims;
  auto Tie() const { return std::tie(dims); }
};

enum class CompareDirection : uint8_t { kEq, kNe, kGe, kGt, kLe, kLt };
enum class CompareType : uint8_t {
  kDefault,
  kFloat,
  kTotalOrder,
  kSigned,
  kUnsigned
};
struct CompareAttrs {  // compare
  CompareDirection direction = CompareDirection::kEq;
  CompareType type = CompareType::kDefault;  // kDefault: by the operand type
  auto Tie() const { return std::tie(direction, type); }
};
struct WindowAttrs {  // reduce-window, select-and-scatter
  Window window;
  auto Tie() const { return std::tie(window); }
};
struct SortAttrs {  // sort
  int64_t dimension = 0;
  bool is_stable = false;
  auto Tie() const { return std::tie(dimension, is_stable); }
};
struct TopKAttrs {  // topk
  int64_t k = 0;
  bool largest = true;
  bool is_stable = false;  // of equal values, the first comes first
  auto Tie() const { return std::tie(k, largest, is_stable); }
};
struct ScanAttrs {  // scan
  DimVector dimensions;
  int64_t num_carries = 0;
  bool is_reverse = false;
  std::optional<bool> is_associative;
  auto Tie() const {
    return std::tie(dimensions, num_carries, is_reverse, is_associative);
  }
};
struct ReducePrecisionAttrs {  // reduce-precision
  int exponent_bits = 0, mantissa_bits = 0;
  auto Tie() const { return std::tie(exponent_bits, mantissa_bits); }
};
struct BatchNormAttrs {  // batch-norm-training, -inference, -grad
  float epsilon = 0;
  int64_t feature_index = 0;
  auto Tie() const { return std::tie(epsilon, feature_index); }
};
enum class FftType : uint8_t { kFft, kIfft, kRfft, kIrfft };
struct FftAttrs {  // fft
  FftType type = FftType::kFft;
  DimVector length;
  auto Tie() const { return std::tie(type, length); }
};
enum class TransposeA : uint8_t { kInvalid, kNo, kTranspose, kAdjoint };
struct TriangularSolveAttrs {  // triangular-solve
  bool left_side = false, lower = false, unit_diagonal = false;
  TransposeA transpose_a = TransposeA::kInvalid;
  auto Tie() const {
    return std::tie(left_side, lower, unit_diagonal, transpose_a);
  }
};
struct CholeskyAttrs {  // cholesky
  bool lower = false;
  auto Tie() const { return std::tie(lower); }
};
enum class RngDistribution : uint8_t { kUniform, kNormal };
struct RngAttrs {  // rng
  RngDistribution distribution = RngDistribution::kUniform;
  auto Tie() const { return std::tie(distribution); }
};
enum class RngAlgorithm : uint8_t { kDefault, kThreeFry, kPhilox };
struct RngBitGeneratorAttrs {  // rng-bit-generator
  RngAlgorithm algorithm = RngAlgorithm::kDefault;
  auto Tie() const { return std::tie(algorithm); }
};
struct RngStateAttrs {  // rng-get-and-update-state
  int64_t delta = 0;
  auto Tie() const { return std::tie(delta); }
};
// exp, log, tanh, ... : IsElementwiseUnary and IsTranscendental.
struct ResultAccuracyAttrs {
  enum class Mode : uint8_t { kDefault, kHighest, kTolerance };
  Mode mode = Mode::kDefault;
  double atol = 0, rtol = 0;
  int64_t ulps = 0;
  auto Tie() const { return std::tie(mode, atol, rtol, ulps); }
};

// Output {a} is the same buffer as operand `operand` at {b}.
struct OutputOperandAlias {
  ShapeIndex output;
  int64_t operand = 0;
  ShapeIndex operand_index;
  bool operator==(const OutputOperandAlias& o) const {
    return output == o.output && operand == o.operand &&
           operand_index == o.operand_index;
  }
};

// all-reduce, all-gather, reduce-scatter, all-to-all, collective-broadcast,
// ragged-all-to-all; the -start forms too.
struct CollectiveAttrs {
  ReplicaGroups groups;
  std::optional<int64_t> channel_id;
  bool use_global_device_ids = false;
  bool constrain_layout = false;
  // Gathered, scattered or split dimension; -1: none.
  int64_t dimension = -1;
  auto Tie() const {
    return std::tie(groups, channel_id, use_global_device_ids, constrain_layout,
                    dimension);
  }
};
// collective-permute, -start.
struct PermuteAttrs {
  std::vector<std::pair<int64_t, int64_t>> source_target_pairs;
  std::optional<int64_t> channel_id;
  std::vector<std::vector<int64_t>> slice_sizes;
  auto Tie() const {
    return std::tie(source_target_pairs, channel_id, slice_sizes);
  }
};
struct SendRecvAttrs {  // send, recv, send-done, recv-done
  std::optional<int64_t> channel_id;
  bool is_host_transfer = false;
  auto Tie() const { return std::tie(channel_id, is_host_transfer); }
};
struct AsyncAttrs {              // async-start, async-update, async-done
  std::string execution_thread;  // empty: "main"
  std::vector<OutputOperandAlias> aliasing;
  auto Tie() const { return std::tie(execution_thread, aliasing); }
};
struct CopyStartAttrs {  // copy-start
  std::optional<int64_t> cross_program_prefetch_index;
  auto Tie() const { return std::tie(cross_program_prefetch_index); }
};
enum class FusionKind : uint8_t { kLoop, kInput, kOutput, kCustom };
struct FusionAttrs {  // fusion; the body is called_computations()[0]
  FusionKind kind = FusionKind::kLoop;
  std::vector<OutputOperandAlias> aliasing;
  auto Tie() const { return std::tie(kind, aliasing); }
};
struct CallAttrs {  // call
  bool is_composite = false;
  std::vector<OutputOperandAlias> aliasing;
  auto Tie() const { return std::tie(is_composite, aliasing); }
};
struct InfeedAttrs {  // infeed
  std::string config;
  auto Tie() const { return std::tie(config); }
};
struct OutfeedAttrs {  // outfeed
  std::string config;
  Shape outfeed_shape;
  auto Tie() const { return std::tie(config, outfeed_shape); }
};
struct DomainAttrs {  // domain
  std::string kind;
  Sharding entry, exit;
  auto Tie() const { return std::tie(kind, entry, exit); }
};

enum class CustomCallSchedule : uint8_t { kNone, kLatest, kEarliest };
enum class CustomCallApi : uint8_t {
  kUnspecified,
  kOriginal,
  kStatusReturning,
  kStatusReturningUnified,
  kTypedFfi
};
enum class PaddingType : uint8_t { kInvalid, kValid, kSame };
struct CustomCallAttrs {  // custom-call
  std::string target;
  CustomCallApi api_version = CustomCallApi::kUnspecified;
  CustomCallSchedule schedule = CustomCallSchedule::kNone;
  bool has_side_effect = false;
  std::optional<std::vector<Shape>> operand_layout_constraints;
  std::vector<OutputOperandAlias> aliasing;
  std::shared_ptr<const Literal> literal;  // may be null
  std::optional<Window> window;
  std::optional<ConvDims> conv_dims;
  PrecisionConfig precision;
  int64_t feature_group_count = 1, batch_group_count = 1;
  PaddingType padding_type = PaddingType::kInvalid;
  auto Tie() const {
    return std::tie(target, api_version, schedule, has_side_effect,
                    operand_layout_constraints, aliasing, literal, window,
                    conv_dims, precision, feature_group_count,
                    batch_group_count, padding_type);
  }
};

absl::string_view CompareDirectionName(CompareDirection direction);  // "EQ"
CompareDirection Swapped(CompareDirection direction);   // a op b == b swapped a
CompareDirection Inverted(CompareDirection direction);  // !(a op b), no NaN
absl::string_view FusionKindName(FusionKind kind);      // "kLoop"

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_IR_ATTRIBUTE_STRUCTS_H_
