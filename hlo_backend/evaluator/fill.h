// Writing one element many times, and copying elements with strides; element
// sizes 1, 2, 4, 8 and 16 bytes.
#ifndef PTXLA_HLO_BACKEND_EVALUATOR_FILL_H_
#define PTXLA_HLO_BACKEND_EVALUATOR_FILL_H_

#include <cstdint>

namespace ptxla::hlo {

void Fill(uint8_t* out, const uint8_t* element, int element_bytes,
          int64_t count);

// out[i * out_stride] = in[i * in_stride], strides in elements.
void CopyStrided(uint8_t* out, int64_t out_stride, const uint8_t* in,
                 int64_t in_stride, int element_bytes, int64_t count);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_EVALUATOR_FILL_H_
