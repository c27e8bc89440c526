#include "hlo_backend/lowering/pooling/pooling.h"

#include "base/status.h"

namespace ptxla::lowering {

absl::StatusOr<isa::Kernel> EmitDepthwise(const KernelContext& context,
                                          const hlo::Instruction& conv) {
  if (conv.attrs<hlo::ConvAttrs>().batch_group_count > 1) {
    ASSIGN_OR_RETURN(const PoolForm form, PoolForm::OfDepthwiseGradient(conv));
    return EmitDepthwiseGradient(context, form);
  }
  ASSIGN_OR_RETURN(const PoolForm form, PoolForm::OfDepthwise(conv));
  return EmitReduceWindow(context, form);
}

absl::StatusOr<isa::Kernel> EmitPooling(const KernelContext& context,
                                        const hlo::Instruction& i) {
  ASSIGN_OR_RETURN(const PoolForm form, PoolForm::Of(i));
  if (i.opcode() == hlo::Opcode::kSelectAndScatter) {
    return EmitSelectAndScatter(context, form);
  }
  return form.cumulative >= 0 ? EmitCumulative(context, form)
                              : EmitReduceWindow(context, form);
}

}  // namespace ptxla::lowering
