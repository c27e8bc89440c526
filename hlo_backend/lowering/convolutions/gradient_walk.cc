#include "hlo_backend/lowering/convolutions/gradient_walk.h"

#include <vector>

#include "base/status.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using Kind = isa::When::Kind;

absl::Status GradientWalk::Emit(CodeBuilder& b) const {
  if (shared_dim >= 0) return Shared(b);
  if (second.steps == 1) return AlongTaps(b, true, true);
  b.BeginWhen(second.dim, Kind::kFirst);
  RETURN_IF_ERROR(AlongTaps(b, true, false));
  b.EndWhen();
  if (second.steps > 2) {
    b.BeginWhen(second.dim, Kind::kNotFirst);
    b.BeginWhen(second.dim, Kind::kNotLast);
    RETURN_IF_ERROR(stream(false, false));
    b.EndWhen();
    b.EndWhen();
  }
  b.BeginWhen(second.dim, Kind::kLast);
  RETURN_IF_ERROR(AlongTaps(b, false, true));
  b.EndWhen();
  return absl::OkStatus();
}

// The first step of each core starts its sums; its last one finishes those of
// both.
absl::Status GradientWalk::Shared(CodeBuilder& b) const {
  std::vector<int> dims = {isa::kCoreShare};
  if (shared_dim == taps.dim && second.steps > 1) dims.push_back(second.dim);
  for (const int dim : dims) b.BeginWhen(dim, Kind::kFirst);
  RETURN_IF_ERROR(stream(true, false));
  for (size_t d = dims.size(); d-- > 0;) {
    b.EndWhen();
    b.BeginWhen(dims[d], Kind::kNotFirst);
    RETURN_IF_ERROR(stream(false, false));
    b.EndWhen();
  }
  for (const int dim : dims) b.BeginWhen(dim, Kind::kLast);
  RETURN_IF_ERROR(finish_shared());
  for (size_t d = 0; d < dims.size(); ++d) b.EndWhen();
  return absl::OkStatus();
}

// The first stream starts the sums, the last one finishes them, if they may.
absl::Status GradientWalk::AlongTaps(CodeBuilder& b, bool starts,
                                     bool finishes) const {
  if (taps.steps == 1) return stream(starts, finishes);
  if (starts) {
    b.BeginWhen(taps.dim, Kind::kFirst);
    RETURN_IF_ERROR(stream(true, false));
    b.EndWhen();
  }
  if (taps.steps > 2 || !starts || !finishes) {
    if (starts) b.BeginWhen(taps.dim, Kind::kNotFirst);
    if (finishes) b.BeginWhen(taps.dim, Kind::kNotLast);
    RETURN_IF_ERROR(stream(false, false));
    if (finishes) b.EndWhen();
    if (starts) b.EndWhen();
  }
  if (finishes) {
    b.BeginWhen(taps.dim, Kind::kLast);
    RETURN_IF_ERROR(stream(false, true));
    b.EndWhen();
  }
  return absl::OkStatus();
}

}  // namespace ptxla::lowering
