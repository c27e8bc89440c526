#include "runtime/host_work.h"

#include <cstddef>

namespace ptxla::runtime {

const char* HostWorkSpan(HostWork work) {
  static constexpr const char* kSpans[] = {
#define PTXLA_X(e, key, span, scaled) span,
      PTXLA_HOST_WORKS(PTXLA_X)
#undef PTXLA_X
  };
  return kSpans[static_cast<size_t>(work)];
}

}  // namespace ptxla::runtime
