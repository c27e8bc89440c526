// The Pallas kernels of tests/data/pallas (tests/tools/make_pallas_cases.py).
#ifndef PTXLA_TESTS_HLO_BACKEND_MOSAIC_FIXTURES_H_
#define PTXLA_TESTS_HLO_BACKEND_MOSAIC_FIXTURES_H_

#include <string>

#include "absl/strings/escaping.h"
#include "base/files.h"
#include "base/status.h"
#include "hlo_backend/mosaic/pallas_kernel.h"

namespace ptxla::testing {

inline constexpr const char* kPallasCases[] = {
    "attention_causal", "attention_full", "copies_ahead",      "copies_at_once",
    "grouped_product",  "pick_rows",      "product_512",       "product_f8",
    "product_s8",       "rms_norm",       "rows_of_heads",     "send_right",
    "sum_of_pages",     "tanh_in_pieces", "windows_and_copies"};

inline std::string PallasCasePath(const std::string& name) {
  return PTXLA_SOURCE_DIR "/tests/data/pallas/" + name + ".hlo";
}

// The file's text holds one call, whose configuration is looked for by key.
inline absl::StatusOr<mosaic::PallasKernel> ReadPallasCase(
    const std::string& name) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(PallasCasePath(name)));
  return mosaic::PallasKernelOf(text);
}

// The bytecode that the call carries.
inline std::string PallasPayload(const std::string& name) {
  const auto text = ReadFile(PallasCasePath(name));
  if (!text.ok()) return "";
  const size_t key = text->find("\"body\"");
  const size_t open = text->find('"', key + 6);
  const size_t close = text->find('"', open + 1);
  std::string bytes;
  absl::Base64Unescape(text->substr(open + 1, close - open - 1), &bytes);
  return bytes;
}

}  // namespace ptxla::testing

#endif  // PTXLA_TESTS_HLO_BACKEND_MOSAIC_FIXTURES_H_
