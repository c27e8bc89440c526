#include "hlo_backend/ir/window.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace ptxla::hlo {

bool WindowDim::operator==(const WindowDim& o) const {
  return size == o.size && stride == o.stride && padding_low == o.padding_low &&
         padding_high == o.padding_high &&
         window_dilation == o.window_dilation &&
         base_dilation == o.base_dilation && reversal == o.reversal;
}

std::string Window::ToString() const {
  std::string out = "{";
  // A field is printed when some dimension differs from the default; `size`
  // always.
  auto field = [&](const char* key, bool always, auto differs, auto value) {
    if (dims.empty()) return;
    if (!always && std::none_of(dims.begin(), dims.end(), differs)) return;
    if (out.size() > 1) out.push_back(' ');
    absl::StrAppend(&out, key, "=");
    for (size_t i = 0; i < dims.size(); ++i) {
      absl::StrAppend(&out, i > 0 ? "x" : "", value(dims[i]));
    }
  };
  using D = WindowDim;
  field(
      "size", true, [](const D&) { return true; },
      [](const D& d) { return absl::StrCat(d.size); });
  field(
      "stride", false, [](const D& d) { return d.stride != 1; },
      [](const D& d) { return absl::StrCat(d.stride); });
  field(
      "pad", false,
      [](const D& d) { return d.padding_low != 0 || d.padding_high != 0; },
      [](const D& d) {
        return absl::StrCat(d.padding_low, "_", d.padding_high);
      });
  field(
      "lhs_dilate", false, [](const D& d) { return d.base_dilation != 1; },
      [](const D& d) { return absl::StrCat(d.base_dilation); });
  field(
      "rhs_dilate", false, [](const D& d) { return d.window_dilation != 1; },
      [](const D& d) { return absl::StrCat(d.window_dilation); });
  field(
      "rhs_reversal", false, [](const D& d) { return d.reversal; },
      [](const D& d) { return absl::StrCat(d.reversal ? 1 : 0); });
  out.push_back('}');
  return out;
}

}  // namespace ptxla::hlo
