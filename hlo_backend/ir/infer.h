// The families of shape inference; shape_inference.h is the way in.
#ifndef PTXLA_HLO_BACKEND_IR_INFER_H_
#define PTXLA_HLO_BACKEND_IR_INFER_H_

#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo::infer {

struct Args {
  Opcode opcode;
  absl::Span<const Shape* const> operands;
  const Attributes& attributes;
  absl::Span<Computation* const> called;
  const Shape* declared;  // may be nullptr

  const Shape& operand(int i) const { return *operands[i]; }
  int operand_count() const { return static_cast<int>(operands.size()); }
  // nullptr when the instruction carries another struct.
  template <class T>
  const T* attrs() const {
    return GetAttrs<T>(attributes);
  }
};

using Result = absl::StatusOr<Shape>;

Result Leaf(const Args& a);
Result Elementwise(const Args& a);
Result Movement(const Args& a);
Result Slicing(const Args& a);
Result GatherScatter(const Args& a);
Result DotLike(const Args& a);
Result Convolution(const Args& a);
Result Reduction(const Args& a);
Result Special(const Args& a);
Result Control(const Args& a);
Result Collective(const Args& a);
Result Async(const Args& a);

template <class... Parts>
absl::Status Fail(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

inline std::string Text(const Shape& s) { return s.ToString(); }
// The shape that was written, or an error that it is needed.
Result Declared(const Args& a);
// Same size, or one of them not known.
bool SizesAgree(int64_t a, int64_t b);
// An array shape of these dimensions; a dimension is dynamic when `from`'s
// same dimension is.
Shape Like(const Shape& from, PrimitiveType type);
// The written element type, where it may differ from the inferred one: the
// result of products and sums in another precision.
PrimitiveType PreferredType(const Args& a, PrimitiveType inferred);
absl::Status CheckDims(absl::string_view what, absl::Span<const int64_t> dims,
                       int rank);  // in range and without repeats
absl::Status CheckArray(const Shape& s, absl::string_view what);
// Strides and dilations are at least 1.
absl::Status CheckSteps(const Window& window);
// One gives its shape, several a tuple.
Shape OneOrTuple(std::vector<Shape> shapes);

}  // namespace ptxla::hlo::infer

#endif  // PTXLA_HLO_BACKEND_IR_INFER_H_
