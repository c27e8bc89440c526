// Sliding windows as HLO text, for tests of their kernels.
//
//   Pool p;
//   p.dims = {PoolDim{9, 3, 2, 1, 1}, PoolDim{8}, PoolDim{128}};
//   EXPECT_OK(CompareKernel(ReduceWindow(p), options).status());
#ifndef PTXLA_TESTS_HLO_BACKEND_LOWERING_POOLING_POOL_TEXT_H_
#define PTXLA_TESTS_HLO_BACKEND_LOWERING_POOLING_POOL_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace ptxla::lowering {

struct PoolDim {
  int64_t in = 1, size = 1, stride = 1, low = 0, high = 0, dilation = 1;
  int64_t base = 1;  // every so many places of the array exist
  int64_t Span() const { return (size - 1) * dilation + 1; }
  int64_t Places() const { return (in - 1) * base + 1 + low + high; }
  bool Exists() const { return Places() >= Span(); }
  int64_t Out() const { return (Places() - Span()) / stride + 1; }
};

struct Pool {
  std::string type = "f32", op = "maximum", init = "-inf";
  std::vector<PoolDim> dims;
};

inline std::string Dims(const Pool& p, bool out) {
  std::string s;
  for (const PoolDim& d : p.dims) {
    absl::StrAppend(&s, s.empty() ? "" : ",", out ? d.Out() : d.in);
  }
  return absl::StrCat(p.type, "[", s, "]");
}

inline std::string Window(const Pool& p) {
  std::string size, stride, pad, dilate, base;
  for (const PoolDim& d : p.dims) {
    const char* by = size.empty() ? "" : "x";
    absl::StrAppend(&size, by, d.size);
    absl::StrAppend(&stride, by, d.stride);
    absl::StrAppend(&pad, by, d.low, "_", d.high);
    absl::StrAppend(&dilate, by, d.dilation);
    absl::StrAppend(&base, by, d.base);
  }
  return absl::StrCat("window={size=", size, " stride=", stride, " pad=", pad,
                      " lhs_dilate=", base, " rhs_dilate=", dilate, "}");
}

inline std::string Body(const Pool& p) {
  return absl::StrCat("f {\n  a = ", p.type, "[] parameter(0)\n  b = ", p.type,
                      "[] parameter(1)\n  ROOT c = ", p.type, "[] ", p.op,
                      "(a, b)\n}\n");
}

inline std::string ReduceWindow(const Pool& p) {
  return absl::StrCat("HloModule m\n", Body(p),
                      "ENTRY e {\n  x = ", Dims(p, false),
                      " parameter(0)\n  i = ", p.type, "[] constant(", p.init,
                      ")\n  ROOT r = ", Dims(p, true), " reduce-window(x, i), ",
                      Window(p), ", to_apply=f\n}\n");
}

// What is selected is put together by `op`, from `init` on.
inline std::string SelectAndScatter(Pool p, const std::string& op = "add",
                                    const std::string& init = "0") {
  const std::string in = Dims(p, false), out = Dims(p, true);
  p.op = op;
  return absl::StrCat(
      "HloModule m\ng {\n  a = ", p.type, "[] parameter(0)\n  b = ", p.type,
      "[] parameter(1)\n  ROOT c = pred[] compare(a, b), direction=GE\n}\n",
      Body(p), "ENTRY e {\n  x = ", in, " parameter(0)\n  s = ", out,
      " parameter(1)\n  i = ", p.type, "[] constant(", init,
      ")\n  ROOT r = ", in, " select-and-scatter(x, s, i), ", Window(p),
      ", select=g, scatter=f\n}\n");
}

// Squares that no step holds whole, with borders all around; 3x3 windows.
inline Pool CutImage(const char* type, int64_t side, int64_t lanes) {
  Pool p;
  p.type = type;
  PoolDim x, rows, columns;
  x.in = side;
  x.size = 3;
  x.stride = 2;
  x.low = x.high = 1;
  rows.in = 8;
  columns.in = lanes;
  p.dims = {x, x, rows, columns};
  return p;
}

}  // namespace ptxla::lowering

#endif  // PTXLA_TESTS_HLO_BACKEND_LOWERING_POOLING_POOL_TEXT_H_
