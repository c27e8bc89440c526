#include "hlo_backend/ir/product_attributes.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace ptxla::hlo {
namespace {

// The labels of one array: a letter for each special dimension, the number of
// the spatial dimension elsewhere, '?' where there is none.
std::string Labels(int64_t a, char a_label, int64_t b, char b_label,
                   const DimVector& spatial) {
  int64_t rank = std::max(a, b) + 1;
  for (int64_t d : spatial) rank = std::max(rank, d + 1);
  std::string labels(rank, '?');
  labels[a] = a_label;
  labels[b] = b_label;
  for (size_t i = 0; i < spatial.size(); ++i) {
    labels[spatial[i]] = static_cast<char>('0' + i);
  }
  return labels;
}

}  // namespace

std::string ConvDims::ToString() const {
  return absl::StrCat(
      Labels(input_batch, 'b', input_feature, 'f', input_spatial), "_",
      Labels(kernel_input_feature, 'i', kernel_output_feature, 'o',
             kernel_spatial),
      "->", Labels(output_batch, 'b', output_feature, 'f', output_spatial));
}

}  // namespace ptxla::hlo
