#include "hlo_backend/ir/print_attributes.h"

#include <type_traits>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo_backend/ir/attribute_names.h"
#include "hlo_backend/ir/attribute_text.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {
namespace {

class Writer : private AttributeText {
 public:
  Writer(Opcode opcode, const PrintOptions& options, std::string* out)
      : AttributeText(out), opcode_(opcode), options_(options) {}

  void operator()(const std::monostate&) {}
  template <class T>
  void operator()(const Boxed<T>& box) {
    (*this)(box.get());
  }
  // Both are printed in the operand list.
  void operator()(const ConstantAttrs&) {}
  void operator()(const ParameterAttrs& a) {
    if (a.replicated_at_leaf_buffers.empty()) return;
    Add("parameter_replication", "{",
        absl::StrJoin(
            a.replicated_at_leaf_buffers, ",",
            [](std::string* o, bool b) { o->append(b ? "true" : "false"); }),
        "}");
  }
  void operator()(const IotaAttrs& a) { Add("iota_dimension", a.dimension); }
  void operator()(const TupleIndexAttrs& a) { Add("index", a.index); }
  void operator()(const DimensionsAttrs& a) {
    List("dimensions", a.dimensions);
  }
  void operator()(const ReshapeAttrs& a) {
    if (a.inferred_dimension >= 0) {
      Add("inferred_dimension", a.inferred_dimension);
    }
  }
  void operator()(const SliceAttrs& a) {
    out_.append(", slice={");
    const bool strided = std::any_of(a.strides.begin(), a.strides.end(),
                                     [](int64_t s) { return s != 1; });
    for (size_t d = 0; d < a.starts.size(); ++d) {
      absl::StrAppend(&out_, d > 0 ? ", [" : "[", a.starts[d], ":",
                      a.limits[d]);
      if (strided) absl::StrAppend(&out_, ":", a.strides[d]);
      out_.push_back(']');
    }
    out_.push_back('}');
  }
  void operator()(const DynamicSliceAttrs& a) {
    List("dynamic_slice_sizes", a.sizes);
  }
  void operator()(const PadAttrs& a) {
    const bool interior =
        std::any_of(a.dims.begin(), a.dims.end(),
                    [](const PaddingDim& d) { return d.interior != 0; });
    Add("padding",
        absl::StrJoin(a.dims, "x", [&](std::string* o, const PaddingDim& d) {
          absl::StrAppend(o, d.low, "_", d.high);
          if (interior) absl::StrAppend(o, "_", d.interior);
        }));
  }
  void operator()(const CompareAttrs& a) {
    Add("direction", CompareDirectionName(a.direction));
    if (a.type != CompareType::kDefault) {
      Add("type", NameOf(kCompareTypes, a.type));
    }
  }
  void operator()(const DotAttrs& a) {
    DotDims(a);
    PrecisionOf(a.precision);
  }
  void operator()(const RaggedDotAttrs& a) {
    DotDims(a.dot);
    List("lhs_ragged_dims", a.lhs_ragged);
    if (!a.rhs_group.empty()) List("rhs_group_dims", a.rhs_group);
    PrecisionOf(a.dot.precision);
  }
  void operator()(const ConvAttrs& a) {
    if (!a.window.dims.empty()) Add("window", a.window.ToString());
    Add("dim_labels", a.dims.ToString());
    if (a.feature_group_count != 1) {
      Add("feature_group_count", a.feature_group_count);
    }
    if (a.batch_group_count != 1) {
      Add("batch_group_count", a.batch_group_count);
    }
    Raw("sparsity_config", a.sparsity);
    PrecisionOf(a.precision);
    if (a.kind != ConvolutionKind::kUnset) {
      Add("convolution_kind", NameOf(kConvolutionKinds, a.kind));
    }
  }
  void operator()(const WindowAttrs& a) {
    if (!a.window.dims.empty()) Add("window", a.window.ToString());
  }
  void operator()(const GatherAttrs& a) {
    List("offset_dims", a.offset_dims);
    List("collapsed_slice_dims", a.collapsed_slice_dims);
    List("start_index_map", a.start_index_map);
    if (!a.operand_batching_dims.empty()) {
      List("operand_batching_dims", a.operand_batching_dims);
    }
    if (!a.start_indices_batching_dims.empty()) {
      List("start_indices_batching_dims", a.start_indices_batching_dims);
    }
    Add("index_vector_dim", a.index_vector_dim);
    List("slice_sizes", a.slice_sizes);
    Flag("indices_are_sorted", a.indices_are_sorted);
  }
  void operator()(const ScatterAttrs& a) {
    List("update_window_dims", a.update_window_dims);
    List("inserted_window_dims", a.inserted_window_dims);
    List("scatter_dims_to_operand_dims", a.scatter_dims_to_operand_dims);
    if (!a.input_batching_dims.empty()) {
      List("input_batching_dims", a.input_batching_dims);
    }
    if (!a.scatter_indices_batching_dims.empty()) {
      List("scatter_indices_batching_dims", a.scatter_indices_batching_dims);
    }
    Add("index_vector_dim", a.index_vector_dim);
    Flag("indices_are_sorted", a.indices_are_sorted);
    Flag("unique_indices", a.unique_indices);
  }
  void operator()(const SortAttrs& a) {
    Add("dimensions", "{", a.dimension, "}");
    Flag("is_stable", a.is_stable);
  }
  void operator()(const TopKAttrs& a) {
    Add("k", a.k);
    Add("largest", a.largest ? "true" : "false");
    Flag("is_stable", a.is_stable);
  }
  void operator()(const ScanAttrs& a) {
    List("dimensions", a.dimensions);
    Add("num_carries", a.num_carries);
    Flag("is_reverse", a.is_reverse);
    if (a.is_associative) {
      Add("is_associative", *a.is_associative ? "true" : "false");
    }
  }
  void operator()(const ReducePrecisionAttrs& a) {
    Add("exponent_bits", a.exponent_bits);
    Add("mantissa_bits", a.mantissa_bits);
  }
  void operator()(const BatchNormAttrs& a) {
    char text[32];
    std::snprintf(text, sizeof(text), "%.6g", a.epsilon);
    if (std::strtof(text, nullptr) != a.epsilon) {
      std::snprintf(text, sizeof(text), "%.9g", a.epsilon);
    }
    Add("epsilon", text);
    Add("feature_index", a.feature_index);
  }
  void operator()(const FftAttrs& a) {
    Add("fft_type", NameOf(kFftTypes, a.type));
    List("fft_length", a.length);
  }
  void operator()(const TriangularSolveAttrs& a) {
    Flag("left_side", a.left_side);
    Flag("lower", a.lower);
    Flag("unit_diagonal", a.unit_diagonal);
    if (a.transpose_a != TransposeA::kInvalid) {
      Add("transpose_a", NameOf(kTransposes, a.transpose_a));
    }
  }
  void operator()(const CholeskyAttrs& a) { Flag("lower", a.lower); }
  void operator()(const RngAttrs& a) {
    Add("distribution", NameOf(kRngDistributions, a.distribution));
  }
  void operator()(const RngBitGeneratorAttrs& a) {
    Add("algorithm", NameOf(kRngAlgorithms, a.algorithm));
  }
  void operator()(const RngStateAttrs& a) { Add("delta", a.delta); }
  // XLA prints it behind what every instruction may have.
  void operator()(const ResultAccuracyAttrs&) {}
  void operator()(const CollectiveAttrs& a) {
    if (a.channel_id) Add("channel_id", *a.channel_id);
    Add("replica_groups", a.groups.ToString());
    Flag("constrain_layout", a.constrain_layout);
    // XLA's order of the two.
    const bool ids_first = opcode_ == Opcode::kReduceScatter;
    if (ids_first) Flag("use_global_device_ids", a.use_global_device_ids);
    if (a.dimension >= 0) Add("dimensions", "{", a.dimension, "}");
    if (!ids_first) Flag("use_global_device_ids", a.use_global_device_ids);
  }
  void operator()(const PermuteAttrs& a) {
    if (a.channel_id) Add("channel_id", *a.channel_id);
    Add("source_target_pairs", "{",
        absl::StrJoin(a.source_target_pairs, ",",
                      [](std::string* o, const auto& p) {
                        absl::StrAppend(o, "{", p.first, ",", p.second, "}");
                      }),
        "}");
    if (a.slice_sizes.empty()) return;
    Add("slice_sizes", "{",
        absl::StrJoin(a.slice_sizes, ",",
                      [](std::string* o, const std::vector<int64_t>& sizes) {
                        absl::StrAppend(o, "{", absl::StrJoin(sizes, ","), "}");
                      }),
        "}");
  }
  void operator()(const SendRecvAttrs& a) {
    if (a.channel_id) Add("channel_id", *a.channel_id);
    Flag("is_host_transfer", a.is_host_transfer);
  }
  void operator()(const AsyncAttrs& a) {
    if (!a.execution_thread.empty()) {
      Add("async_execution_thread", "\"", a.execution_thread, "\"");
    }
    Aliasing(a.aliasing);
  }
  void operator()(const CopyStartAttrs& a) {
    if (a.cross_program_prefetch_index) {
      Add("cross_program_prefetch_index", *a.cross_program_prefetch_index);
    }
  }
  void operator()(const FusionAttrs& a) {
    Add("kind", FusionKindName(a.kind));
    Aliasing(a.aliasing);
  }
  void operator()(const CallAttrs& a) { Aliasing(a.aliasing); }
  void operator()(const InfeedAttrs& a) { Quoted("infeed_config", a.config); }
  void operator()(const OutfeedAttrs& a) {
    if (a.outfeed_shape.type() != PrimitiveType::kInvalid) {
      out_.append(", outfeed_shape=");
      a.outfeed_shape.AppendTo(&out_, options_.layouts);
    }
    Quoted("outfeed_config", a.config);
  }
  void operator()(const DomainAttrs& a) {
    Add("domain", "{kind=\"", a.kind, "\", entry=", a.entry.ToString(),
        ", exit=", a.exit.ToString(), "}");
  }
  void operator()(const CustomCallAttrs& a) {
    if (a.window) Add("window", a.window->ToString());
    if (a.conv_dims) Add("dim_labels", a.conv_dims->ToString());
    if (a.feature_group_count != 1) {
      Add("feature_group_count", a.feature_group_count);
    }
    if (a.batch_group_count != 1) {
      Add("batch_group_count", a.batch_group_count);
    }
    if (a.padding_type != PaddingType::kInvalid) {
      Add("padding_type", NameOf(kPaddingTypes, a.padding_type));
    }
    PrecisionOf(a.precision);
    Add("custom_call_target", "\"", absl::CEscape(a.target), "\"");
    if (a.operand_layout_constraints) {
      out_.append(", operand_layout_constraints={");
      bool first = true;
      for (const Shape& s : *a.operand_layout_constraints) {
        if (!first) out_.append(", ");
        first = false;
        s.AppendTo(&out_, options_.layouts);
      }
      out_.push_back('}');
    }
    Flag("custom_call_has_side_effect", a.has_side_effect);
    if (a.literal) {
      out_.append(", literal=");
      a.literal->shape().AppendTo(&out_, options_.layouts);
      out_.push_back(' ');
      a.literal->AppendTo(&out_);
    }
    Aliasing(a.aliasing);
    if (a.schedule != CustomCallSchedule::kNone) {
      Add("schedule", NameOf(kCustomCallSchedules, a.schedule));
    }
    if (a.api_version != CustomCallApi::kUnspecified &&
        a.api_version != CustomCallApi::kOriginal) {
      Add("api_version", NameOf(kCustomCallApis, a.api_version));
    }
  }

 private:
  Opcode opcode_;
  const PrintOptions& options_;
};

}  // namespace

void AppendResultAccuracy(const Instruction& instruction, std::string* out) {
  const auto* a = instruction.attrs_if<ResultAccuracyAttrs>();
  if (a == nullptr) return;
  if (a->mode == ResultAccuracyAttrs::Mode::kHighest) {
    out->append(", result_accuracy={mode=highest}");
  } else if (a->mode == ResultAccuracyAttrs::Mode::kTolerance) {
    absl::StrAppend(out, ", result_accuracy={tolerance={atol=", a->atol,
                    ",rtol=", a->rtol, ",ulps=", a->ulps, "}}");
  }
}

void AppendAttributes(const Instruction& instruction,
                      const PrintOptions& options, std::string* out) {
  std::visit(Writer(instruction.opcode(), options, out),
             instruction.attributes());
  AppendCalled(instruction, options, out);
  const auto* call = instruction.attrs_if<CallAttrs>();
  if (call != nullptr && call->is_composite) out->append(", is_composite=true");
}

}  // namespace ptxla::hlo
