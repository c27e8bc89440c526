// Is a node, as it was read from text, one that tracing could have made?
//
//   RETURN_IF_ERROR(CheckNode(*node));
//   // InvalidArgument "aten::mm: operands f32[2,3]{1,0}, f32[4,5]{1,0}:
//   //                  contracted dimensions differ"
//
// Operand count, attributes, and dimensions and types of operands and results
// by the rules of lazy/ir.h. What passes can be lowered.
#ifndef PTXLA_LAZY_CHECK_NODE_H_
#define PTXLA_LAZY_CHECK_NODE_H_

#include "absl/status/status.h"
#include "lazy/node.h"

namespace ptxla::lazy {

absl::Status CheckNode(const Node& node);

}  // namespace ptxla::lazy

#endif  // PTXLA_LAZY_CHECK_NODE_H_
