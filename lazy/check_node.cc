#include "lazy/check_node.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "lazy/attributes.h"
#include "lazy/node_checker.h"

namespace ptxla::lazy {

std::string NodeChecker::Run() {
  if (!FitsKind(node_.kind(), static_cast<int>(node_.operands().size()),
                node_.attributes())) {
    return "wrong number of operands or wrong attributes";
  }
  switch (node_.kind()) {
    case OpKind::kDeviceData:
      break;
    case OpKind::kConstant:
      Expect(Out().IsScalar(), "a constant is a scalar");
      break;
    case OpKind::kCast:
    case OpKind::kView:
    case OpKind::kPermute:
    case OpKind::kExpand:
    case OpKind::kStack:
      CheckMovement();
      break;
    case OpKind::kSelect:
    case OpKind::kGenericSlice:
    case OpKind::kUpdateSlice:
    case OpKind::kUnselect:
      CheckSlice();
      break;
    case OpKind::kSum:
    case OpKind::kMean:
    case OpKind::kSoftmax:
    case OpKind::kSoftmaxBackward:
    case OpKind::kLogSoftmax:
    case OpKind::kLogSoftmaxBackward:
      CheckReduction();
      break;
    case OpKind::kNllLoss:
    case OpKind::kNllLossBackward:
    case OpKind::kNativeBatchNorm:
    case OpKind::kNativeBatchNormBackward:
      CheckNorm();
      break;
    case OpKind::kConvolution:
    case OpKind::kConvolutionBackward:
      CheckConvolution();
      break;
    case OpKind::kMaxPool:
    case OpKind::kMaxPoolBackward:
      CheckPool();
      break;
    case OpKind::kMovingAverage:
      ExpectSame(In(0), In(1));
      ExpectSame(Out(), In(1));
      break;
    case OpKind::kMm:
    case OpKind::kMatmul:
    case OpKind::kAddmm:
      CheckProduct();
      break;
    case OpKind::kIndexSelect:
    case OpKind::kIndexPut:
      CheckIndexing();
      break;
    case OpKind::kCrossReplicaSum:
      CheckCollective();
      break;
    default:
      CheckElementwise();
  }
  const bool many = node_.kind() == OpKind::kCrossReplicaSum ||
                    node_.kind() == OpKind::kConvolutionBackward ||
                    node_.kind() == OpKind::kNativeBatchNorm ||
                    node_.kind() == OpKind::kNativeBatchNormBackward;
  if (!many) ExpectOutputs(1);
  return broken_;
}

absl::Status CheckNode(const Node& node) {
  const std::string broken = NodeChecker(node).Run();
  if (broken.empty()) return absl::OkStatus();
  std::string message(OpName(node.kind()));
  for (size_t i = 0; i < node.operands().size(); ++i) {
    absl::StrAppend(&message, i ? ", " : ": operands ",
                    node.operand(i).shape().ToString());
  }
  return absl::InvalidArgumentError(absl::StrCat(message, ": ", broken));
}

}  // namespace ptxla::lazy
