#include "hlo_backend/ir/infer.h"

namespace ptxla::hlo::infer {

Result Declared(const Args& a) {
  if (a.declared == nullptr) {
    return Fail("the shape of ", OpcodeName(a.opcode),
                " cannot be inferred: write it");
  }
  return *a.declared;
}

bool SizesAgree(int64_t a, int64_t b) {
  return a == b || a == Shape::kUnbounded || b == Shape::kUnbounded;
}

Shape Like(const Shape& from, PrimitiveType type) {
  Shape shape = Shape::Array(type, from.dims());
  for (int i = 0; i < from.rank(); ++i) {
    if (from.is_dynamic_dim(i)) shape.set_dynamic_dim(i, true);
  }
  return shape;
}

PrimitiveType PreferredType(const Args& a, PrimitiveType inferred) {
  if (a.declared == nullptr || !a.declared->IsArray()) return inferred;
  const PrimitiveType written = a.declared->type();
  if ((IsFloat(written) && IsFloat(inferred)) ||
      (IsInteger(written) && IsInteger(inferred)) ||
      (IsFloat(written) && IsInteger(inferred))) {
    return written;
  }
  return inferred;
}

absl::Status CheckDims(absl::string_view what, absl::Span<const int64_t> dims,
                       int rank) {
  uint64_t seen = 0;
  for (int64_t d : dims) {
    if (d < 0 || d >= rank) {
      return Fail(what, " has dimension ", d, ", the operand has ", rank);
    }
    if (seen >> d & 1) return Fail(what, " names dimension ", d, " twice");
    seen |= uint64_t{1} << d;
  }
  return absl::OkStatus();
}

absl::Status CheckArray(const Shape& s, absl::string_view what) {
  if (s.IsArray()) return absl::OkStatus();
  return Fail(what, " must be an array, not ", Text(s));
}

absl::Status CheckSteps(const Window& window) {
  for (const WindowDim& d : window.dims) {
    if (d.stride < 1 || d.base_dilation < 1 || d.window_dilation < 1) {
      return Fail("the window ", window.ToString(),
                  " has a stride or dilation below 1");
    }
  }
  return absl::OkStatus();
}

Shape OneOrTuple(std::vector<Shape> shapes) {
  if (shapes.size() == 1) return std::move(shapes[0]);
  return Shape::Tuple(std::move(shapes));
}

}  // namespace ptxla::hlo::infer
