// Runs a piece of code on a core: registers come from VMEM and go there.
#ifndef PTXLA_TESTS_ISA_CORE_FIXTURE_H_
#define PTXLA_TESTS_ISA_CORE_FIXTURE_H_

#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "isa/asm.h"
#include "isa/interpreter.h"
#include "isa/mxu.h"
#include "tests/support/status_matchers.h"

namespace ptxla::isa::testing {

using Words = Mxu::Words;

// A machine on which anything can issue together and every latency is 1.
inline MachineModel Wide() {
  MachineModel m = MachineModel::Unit();
  m.slots.fill(8);
  m.load_store_total = 0;
  m.xlus = 4;
  m.mxus = 4;
  return m;
}

template <class F>
Words MakeWords(F f) {
  Words words;
  for (int w = 0; w < kVregWords; ++w) words[w] = f(w / kLanes, w % kLanes);
  return words;
}
template <class F>
Words MakeFloats(F f) {
  return MakeWords([&](int s, int l) {
    const float x = f(s, l);
    uint32_t bits;
    std::memcpy(&bits, &x, 4);
    return bits;
  });
}
// The word of sublane s, lane l.
inline int At(int s, int l) { return s * kLanes + l; }
// Words of all sizes, small ones in every fourth lane.
inline Words Mixed(uint32_t seed) {
  return MakeWords([seed](int s, int l) {
    const uint32_t x = (At(s, l) + seed) * 2654435761u;
    return l % 4 == 0 ? x % 40 : x;
  });
}
inline float AsFloat(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, 4);
  return x;
}

// Runs bundles with v1, v2, ... loaded from `inputs`; returns v10, v11, ...
// (`outputs` of them) as they are at the end.
inline absl::StatusOr<std::vector<Words>> RunBundles(
    absl::string_view bundles, const std::vector<Words>& inputs,
    int outputs = 1, const MachineModel& machine = Wide(),
    InterpreterOptions options = {}) {
  std::string text = "block \"t\" {";
  for (size_t i = 0; i < inputs.size(); ++i) {
    absl::StrAppend(&text, "{v", i + 1, " = vld [", i * kVregBytes, "]}");
  }
  absl::StrAppend(&text, bundles);
  for (int i = 0; i < outputs; ++i) {
    absl::StrAppend(&text, "{vst [", (8 + i) * kVregBytes, "], v", 10 + i, "}");
  }
  absl::StatusOr<Code> code = ParseCode(absl::StrCat(text, "}"));
  if (!code.ok()) return code.status();
  Kernel kernel;
  kernel.step = *code;
  kernel.vmem_bytes = 1 << 20;
  kernel.smem_bytes = 1 << 12;
  Core core(machine, options);
  absl::Span<uint8_t> vmem = core.vmem(kernel.vmem_bytes);
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::memcpy(vmem.data() + i * kVregBytes, inputs[i].data(), kVregBytes);
  }
  absl::StatusOr<int64_t> cycles = core.Run(kernel, {});
  if (!cycles.ok()) return cycles.status();
  std::vector<Words> result(outputs);
  for (int i = 0; i < outputs; ++i) {
    std::memcpy(result[i].data(), core.vmem().data() + (8 + i) * kVregBytes,
                kVregBytes);
  }
  return result;
}

}  // namespace ptxla::isa::testing

#endif  // PTXLA_TESTS_ISA_CORE_FIXTURE_H_
