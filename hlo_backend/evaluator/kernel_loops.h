// The loops behind kernels.h: apply a function object to arrays, with operands
// that may be one element for all.
#ifndef PTXLA_HLO_BACKEND_EVALUATOR_KERNEL_LOOPS_H_
#define PTXLA_HLO_BACKEND_EVALUATOR_KERNEL_LOOPS_H_

#include "hlo_backend/evaluator/kernels.h"

namespace ptxla::hlo::internal {

template <class In, class Out, class F>
void UnaryLoop(const KernelArgs& args) {
  const In* a = static_cast<const In*>(args.in[0]);
  Out* out = static_cast<Out*>(args.out);
  const F f{};
  if (args.splat[0]) {
    const Out value = f(a[0]);
    for (int64_t i = 0; i < args.n; ++i) out[i] = value;
  } else {
    for (int64_t i = 0; i < args.n; ++i) out[i] = f(a[i]);
  }
}

template <class In, class Out, class F>
void BinaryLoop(const KernelArgs& args) {
  const In* a = static_cast<const In*>(args.in[0]);
  const In* b = static_cast<const In*>(args.in[1]);
  Out* out = static_cast<Out*>(args.out);
  const int64_t n = args.n;
  const F f{};
  if (!args.splat[0] && !args.splat[1]) {
    for (int64_t i = 0; i < n; ++i) out[i] = f(a[i], b[i]);
  } else if (!args.splat[0]) {
    const In y = b[0];
    for (int64_t i = 0; i < n; ++i) out[i] = f(a[i], y);
  } else if (!args.splat[1]) {
    const In x = a[0];
    for (int64_t i = 0; i < n; ++i) out[i] = f(x, b[i]);
  } else {
    const Out value = f(a[0], b[0]);
    for (int64_t i = 0; i < n; ++i) out[i] = value;
  }
}

template <class T, class F>
void TernaryLoop(const KernelArgs& args) {
  const T* a = static_cast<const T*>(args.in[0]);
  const T* b = static_cast<const T*>(args.in[1]);
  const T* c = static_cast<const T*>(args.in[2]);
  const int64_t sa = args.splat[0] ? 0 : 1;
  const int64_t sb = args.splat[1] ? 0 : 1;
  const int64_t sc = args.splat[2] ? 0 : 1;
  T* out = static_cast<T*>(args.out);
  const F f{};
  for (int64_t i = 0; i < args.n; ++i) {
    out[i] = f(a[i * sa], b[i * sb], c[i * sc]);
  }
}

struct Eq {
  template <class T>
  uint8_t operator()(T a, T b) const {
    return a == b;
  }
};
struct Ne {
  template <class T>
  uint8_t operator()(T a, T b) const {
    return a != b;
  }
};
struct Lt {
  template <class T>
  uint8_t operator()(T a, T b) const {
    return a < b;
  }
};
struct Le {
  template <class T>
  uint8_t operator()(T a, T b) const {
    return a <= b;
  }
};
struct Gt {
  template <class T>
  uint8_t operator()(T a, T b) const {
    return a > b;
  }
};
struct Ge {
  template <class T>
  uint8_t operator()(T a, T b) const {
    return a >= b;
  }
};

template <class T>
Kernel CompareKernel(CompareDirection direction) {
  switch (direction) {
    case CompareDirection::kEq:
      return BinaryLoop<T, uint8_t, Eq>;
    case CompareDirection::kNe:
      return BinaryLoop<T, uint8_t, Ne>;
    case CompareDirection::kLt:
      return BinaryLoop<T, uint8_t, Lt>;
    case CompareDirection::kLe:
      return BinaryLoop<T, uint8_t, Le>;
    case CompareDirection::kGt:
      return BinaryLoop<T, uint8_t, Gt>;
    case CompareDirection::kGe:
      return BinaryLoop<T, uint8_t, Ge>;
  }
  return nullptr;
}

}  // namespace ptxla::hlo::internal

#endif  // PTXLA_HLO_BACKEND_EVALUATOR_KERNEL_LOOPS_H_
