// What an op of a program is called where people read it: the layer of the
// model, and the kind of work, instead of an instruction's name and the path
// that tracing wrote.
//
//   "encoder.3.ffn/backward/aten__mm", convert_fusion.17
//       -> {layer "encoder.*.ffn", kind "matmul"}
//   "encoder.3.attention/aten__view", reshape.5
//       -> {layer "encoder.*.attention", kind "reshape"}
//   "jit(f)/jit(main)/mlp/dot_general", fusion.2
//       -> {layer "mlp", kind "matmul"}
//
// An op without a path keeps its instruction's name: {"", "add_fusion"}, or
// {"", "matmul in add_fusion"} where the MXU bounds it.
#ifndef PTXLA_REPORTS_OP_LABEL_H_
#define PTXLA_REPORTS_OP_LABEL_H_

#include <string>

#include "record/run_record.pb.h"

namespace ptxla::reports {

struct OpLabel {
  std::string layer;  // numbers replaced by *; may be empty
  std::string kind;   // "matmul", "softmax", "sum reshape", "all-reduce"
};

OpLabel LabelOf(const record::OpRecord& op);

// "encoder.3.ffn" -> "encoder.*.ffn", "layer_3" -> "layer_*".
std::string LayerPattern(const std::string& layer);

}  // namespace ptxla::reports

#endif  // PTXLA_REPORTS_OP_LABEL_H_
