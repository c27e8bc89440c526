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

// Each of 0 .. n - 1 once.
bool IsPermutation(int64_t a, int64_t b, DimVector all) {
  all.push_back(a);
  all.push_back(b);
  std::sort(all.begin(), all.end());
  for (size_t d = 0; d < all.size(); ++d) {
    if (all[d] != static_cast<int64_t>(d)) return false;
  }
  return true;
}

}  // namespace

bool ConvDims::AreComplete() const {
  return kernel_spatial.size() == input_spatial.size() &&
         output_spatial.size() == input_spatial.size() &&
         IsPermutation(input_batch, input_feature, input_spatial) &&
         IsPermutation(kernel_input_feature, kernel_output_feature,
                       kernel_spatial) &&
         IsPermutation(output_batch, output_feature, output_spatial);
}

std::string ConvDims::ToString() const {
  return absl::StrCat(
      Labels(input_batch, 'b', input_feature, 'f', input_spatial), "_",
      Labels(kernel_input_feature, 'i', kernel_output_feature, 'o',
             kernel_spatial),
      "->", Labels(output_batch, 'b', output_feature, 'f', output_spatial));
}

}  // namespace ptxla::hlo
