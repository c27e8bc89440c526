// Custom calls of other compilers that are functions of arrays, as HLO:
//
//   AwsNeuronGelu, AwsNeuronGeluApprxTanh, AwsNeuronGeluBackward(x)
//   AwsNeuronRmsNorm(x, weight, epsilon)   backend_config: the dimension
//   byteir.gelu(x)                         approximate="erf" or "tanh"
//   byteir.softmax(x), byteir.log_softmax(x)            axis="3"
//   byteir.layer_norm(x, weight, bias)     axis="[2]", epsilon="1e-05": y, or
//                                          {y, mean, 1 / deviation}
//   byteir.nll_loss_forward(log probabilities [n, classes], labels [n])
//                                          ignore_index="-1", reduction="1"
//                                          (1: mean, 2: sum): {loss, labels
//                                          that count}
//
// Parameters of ByteIR's calls are frontend attributes (the reader's choice).
// Numbers are f32 inside; the functions are PyTorch's of the same names.
//
//   if (Instruction* y = ExpandFrameworkCall(call)) c->Replace(call, y);
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_FRAMEWORK_CALLS_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_FRAMEWORK_CALLS_H_

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// Null: another call, or another form of one.
Instruction* ExpandFrameworkCall(Instruction* call);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_FRAMEWORK_CALLS_H_
