// ", to_apply=%add", ", condition=%c, body=%b": called computations by the
// keywords of their opcode.
#include "absl/strings/str_cat.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/ir/print_attributes.h"

namespace ptxla::hlo {

void AppendCalled(const Instruction& i, const PrintOptions& options,
                  std::string* out) {
  const char* mark = options.percent ? "%" : "";
  const auto called = i.called();
  auto one = [&](const char* key, const Computation* c) {
    absl::StrAppend(out, ", ", key, "=", mark, c->name());
  };
  if (called.empty()) return;
  switch (i.opcode()) {
    case Opcode::kWhile:
      one("condition", i.while_condition());
      one("body", i.while_body());
      return;
    case Opcode::kSelectAndScatter:
      one("select", i.select());
      one("scatter", i.scatter());
      return;
    case Opcode::kFusion:
    case Opcode::kAsyncStart:
    case Opcode::kAsyncUpdate:
    case Opcode::kAsyncDone:
      one("calls", called[0]);
      return;
    case Opcode::kConditional:
      if (called.size() == 2 &&
          i.operand(0)->shape().type() == PrimitiveType::kPred) {
        one("true_computation", called[0]);
        one("false_computation", called[1]);
        return;
      }
      break;
    case Opcode::kCustomCall:
      break;
    default:
      one("to_apply", called[0]);
      return;
  }
  absl::StrAppend(out, i.opcode() == Opcode::kConditional
                           ? ", branch_computations={"
                           : ", called_computations={");
  for (size_t n = 0; n < called.size(); ++n) {
    absl::StrAppend(out, n > 0 ? ", " : "", mark, called[n]->name());
  }
  out->push_back('}');
}

}  // namespace ptxla::hlo
