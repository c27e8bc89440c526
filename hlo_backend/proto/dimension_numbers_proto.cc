#include "hlo_backend/proto/dimension_numbers_proto.h"

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/proto/repeated_fields.h"

namespace ptxla::hlo {
absl::Status CheckConvDims(const ConvDims& d) {
  if (d.AreComplete()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "the dimensions of a convolution are not numbered once each");
}

absl::Status CheckSmallNumbers(const ConvDims& d) {
  constexpr int64_t kMaxRank = 64;
  DimVector all = d.input_spatial;
  all.insert(all.end(), d.kernel_spatial.begin(), d.kernel_spatial.end());
  all.insert(all.end(), d.output_spatial.begin(), d.output_spatial.end());
  for (int64_t n :
       {d.input_batch, d.input_feature, d.kernel_input_feature,
        d.kernel_output_feature, d.output_batch, d.output_feature}) {
    all.push_back(n);
  }
  for (int64_t n : all) {
    if (n < 0 || n >= kMaxRank) {
      return absl::InvalidArgumentError(
          absl::StrCat("no dimension has the number ", n));
    }
  }
  return absl::OkStatus();
}

Window FromProto(const proto::Window& in) {
  Window window;
  for (const auto& d : in.dimensions()) {
    // Files written by hand leave out what is 1.
    window.dims.push_back(
        {d.size(), std::max<int64_t>(d.stride(), 1), d.padding_low(),
         d.padding_high(), std::max<int64_t>(d.window_dilation(), 1),
         std::max<int64_t>(d.base_dilation(), 1), d.window_reversal()});
  }
  return window;
}

ConvDims FromProto(const proto::ConvolutionDimensionNumbers& in) {
  ConvDims d;
  d.input_batch = in.input_batch_dimension();
  d.input_feature = in.input_feature_dimension();
  d.kernel_input_feature = in.kernel_input_feature_dimension();
  d.kernel_output_feature = in.kernel_output_feature_dimension();
  d.output_batch = in.output_batch_dimension();
  d.output_feature = in.output_feature_dimension();
  Copy(in.input_spatial_dimensions(), &d.input_spatial);
  Copy(in.kernel_spatial_dimensions(), &d.kernel_spatial);
  Copy(in.output_spatial_dimensions(), &d.output_spatial);
  return d;
}

absl::Status FromProto(const proto::PrecisionConfig& in, PrecisionConfig* out) {
  for (int p : in.operand_precision()) {
    Precision precision;
    RETURN_IF_ERROR(EnumFromNumber(kPrecisions, p, "precision", &precision));
    out->operands.push_back(precision);
  }
  const bool any =
      std::any_of(out->operands.begin(), out->operands.end(),
                  [](Precision p) { return p != Precision::kDefault; });
  // Not written in texts: no difference.
  if (!any) out->operands.clear();
  return EnumFromNumber(kDotAlgorithms, in.algorithm(), "dot algorithm",
                        &out->algorithm);
}

void FromProto(const proto::DotDimensionNumbers& in, DotAttrs* out) {
  Copy(in.lhs_contracting_dimensions(), &out->lhs_contracting);
  Copy(in.rhs_contracting_dimensions(), &out->rhs_contracting);
  Copy(in.lhs_batch_dimensions(), &out->lhs_batch);
  Copy(in.rhs_batch_dimensions(), &out->rhs_batch);
}

void ToProto(const Window& window, proto::Window* out) {
  for (const WindowDim& d : window.dims) {
    auto* dim = out->add_dimensions();
    dim->set_size(d.size);
    dim->set_stride(d.stride);
    dim->set_padding_low(d.padding_low);
    dim->set_padding_high(d.padding_high);
    dim->set_window_dilation(d.window_dilation);
    dim->set_base_dilation(d.base_dilation);
    dim->set_window_reversal(d.reversal);
  }
}

void ToProto(const ConvDims& d, proto::ConvolutionDimensionNumbers* out) {
  out->set_input_batch_dimension(d.input_batch);
  out->set_input_feature_dimension(d.input_feature);
  out->set_kernel_input_feature_dimension(d.kernel_input_feature);
  out->set_kernel_output_feature_dimension(d.kernel_output_feature);
  out->set_output_batch_dimension(d.output_batch);
  out->set_output_feature_dimension(d.output_feature);
  AddAll(d.input_spatial, out->mutable_input_spatial_dimensions());
  AddAll(d.kernel_spatial, out->mutable_kernel_spatial_dimensions());
  AddAll(d.output_spatial, out->mutable_output_spatial_dimensions());
}

void ToProto(const PrecisionConfig& p, proto::PrecisionConfig* out) {
  for (Precision x : p.operands) {
    out->add_operand_precision(
        static_cast<proto::PrecisionConfig::Precision>(x));
  }
  out->set_algorithm(
      static_cast<proto::PrecisionConfig::Algorithm>(p.algorithm));
}

void ToProto(const DotAttrs& a, proto::DotDimensionNumbers* out) {
  AddAll(a.lhs_contracting, out->mutable_lhs_contracting_dimensions());
  AddAll(a.rhs_contracting, out->mutable_rhs_contracting_dimensions());
  AddAll(a.lhs_batch, out->mutable_lhs_batch_dimensions());
  AddAll(a.rhs_batch, out->mutable_rhs_batch_dimensions());
}

}  // namespace ptxla::hlo
