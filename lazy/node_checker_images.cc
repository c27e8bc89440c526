#include "lazy/node_checker.h"

namespace ptxla::lazy {
namespace {

bool IsWindow(const WindowAttrs& w) {
  if (w.sizes.size() != 2 || w.strides.size() != 2 || w.padding.size() != 2) {
    return false;
  }
  for (int i = 0; i < 2; ++i) {
    if (w.sizes[i] < 1 || w.strides[i] < 1 || w.padding[i] < 0) return false;
  }
  return true;
}

// Dimensions of the windows' results over x [n, h, w, c]; empty if a window
// does not fit.
DimVector WindowedDims(const TensorShape& x, const WindowAttrs& w,
                       int64_t features) {
  DimVector dims = {x.dim(0), 0, 0, features};
  for (int i = 0; i < 2; ++i) {
    const int64_t room = x.dim(i + 1) - w.sizes[i] + 2 * w.padding[i];
    if (room < 0) return {};
    dims[i + 1] = room / w.strides[i] + 1;
  }
  return dims;
}

}  // namespace

void NodeChecker::CheckConvolution() {
  const auto& window = node_.attrs<WindowAttrs>();
  const bool forward = node_.kind() == OpKind::kConvolution;
  const TensorShape& x = In(forward ? 0 : 1);
  const TensorShape& weight = In(forward ? 1 : 2);
  Expect(IsWindow(window), "the window is no window of two dimensions");
  Expect(x.rank() == 4 && weight.rank() == 4, "wrong rank");
  ExpectOutputs(forward ? 1 : 3);
  if (!broken_.empty()) return;
  Expect(x.type() == weight.type(), "operands have different types");
  Expect(x.dim(3) == weight.dim(2), "features differ");
  Expect(weight.dim(0) == window.sizes[0] && weight.dim(1) == window.sizes[1],
         "the window has another size than the kernel");
  const DimVector dims = WindowedDims(x, window, weight.dim(3));
  Expect(!dims.empty(), "the window does not fit the image");
  if (!broken_.empty()) return;
  if (forward) {
    ExpectSame(Out(), TensorShape(x.type(), dims));
    return;
  }
  ExpectSame(In(0), TensorShape(x.type(), dims));
  ExpectSame(node_.shape(0), x);
  ExpectSame(node_.shape(1), weight);
  ExpectSame(node_.shape(2), TensorShape(x.type(), {weight.dim(3)}));
}

void NodeChecker::CheckPool() {
  const auto& window = node_.attrs<WindowAttrs>();
  const bool forward = node_.kind() == OpKind::kMaxPool;
  const TensorShape& x = In(forward ? 0 : 1);
  Expect(IsWindow(window), "the window is no window of two dimensions");
  Expect(x.rank() == 4, "wrong rank");
  if (!broken_.empty()) return;
  const DimVector dims = WindowedDims(x, window, x.dim(3));
  Expect(!dims.empty(), "the window does not fit the image");
  if (!broken_.empty()) return;
  ExpectSame(forward ? Out() : In(0), TensorShape(x.type(), dims));
  if (!forward) ExpectSame(Out(), x);
}

}  // namespace ptxla::lazy
