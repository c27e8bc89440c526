#include "hlo_backend/ir/attribute_text.h"

#include <algorithm>

#include "hlo_backend/ir/attribute_names.h"
#include "hlo_backend/ir/print_attributes.h"

namespace ptxla::hlo {

void AttributeText::DotDims(const DotAttrs& a) {
  if (!a.lhs_batch.empty()) List("lhs_batch_dims", a.lhs_batch);
  List("lhs_contracting_dims", a.lhs_contracting);
  if (!a.rhs_batch.empty()) List("rhs_batch_dims", a.rhs_batch);
  List("rhs_contracting_dims", a.rhs_contracting);
  Raw("sparsity_config", a.sparsity);
}

void AttributeText::PrecisionOf(const PrecisionConfig& p) {
  const bool any =
      std::any_of(p.operands.begin(), p.operands.end(),
                  [](Precision x) { return x != Precision::kDefault; });
  if (any) {
    Add("operand_precision", "{",
        absl::StrJoin(p.operands, ",",
                      [](std::string* o, Precision x) {
                        absl::StrAppend(o, NameOf(kPrecisions, x));
                      }),
        "}");
  }
  if (p.algorithm != DotAlgorithm::kUnset) {
    Add("algorithm", NameOf(kDotAlgorithms, p.algorithm));
  }
}

void AttributeText::Aliasing(const std::vector<OutputOperandAlias>& list) {
  if (list.empty()) return;
  out_.append(", output_to_operand_aliasing={");
  for (size_t n = 0; n < list.size(); ++n) {
    if (n > 0) out_.append(", ");
    AppendShapeIndex(list[n].output, &out_);
    absl::StrAppend(&out_, ": (", list[n].operand, ", ");
    AppendShapeIndex(list[n].operand_index, &out_);
    out_.push_back(')');
  }
  out_.push_back('}');
}

void AppendShapeIndex(absl::Span<const int64_t> index, std::string* out) {
  absl::StrAppend(out, "{", absl::StrJoin(index, ","), "}");
}

}  // namespace ptxla::hlo
