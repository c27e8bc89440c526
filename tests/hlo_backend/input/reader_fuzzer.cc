// The readers under libFuzzer (Clang), or on damaged seeds for as long as
// asked:
//
//   reader_fuzzer SEED COUNT     damages programs COUNT times, prints the last
//                                one if it must (a crash names its number)
#include <cstdio>
#include <cstdlib>
#include <string>

#include "hlo_backend/input/module_file.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/printer.h"
#include "hlo_backend/ir/verifier.h"
#include "tests/hlo_backend/input/damage.h"

namespace ptxla::hlo {
namespace {

void ReadAnything(const std::string& bytes) {
  auto file = ReadModule(bytes, "fuzz");
  if (!file.ok() || !VerifyModule(*file->module).ok()) return;
  if (!ParseModule(Print(*file->module)).ok()) {
    std::fprintf(stderr, "valid, but does not read again:\n%s", bytes.c_str());
    std::abort();
  }
  (void)WriteModule(*file->module, FileFormat::kHloProto).status();
}

}  // namespace
}  // namespace ptxla::hlo

#ifdef PTXLA_LIBFUZZER
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ptxla::hlo::ReadAnything(std::string(data, data + size));
  return 0;
}
#else
int main(int argc, char** argv) {
  using namespace ptxla::hlo;  // NOLINT
  if (argc != 3) {
    std::fprintf(stderr, "usage: reader_fuzzer SEED COUNT\n");
    return 2;
  }
  std::mt19937 random(static_cast<unsigned>(std::atoll(argv[1])));
  std::string seeds[4] = {kHlo, kStableHlo};
  auto module = ParseModule(kHlo);
  if (!module.ok()) return 1;
  seeds[2] = *WriteModule(**module, FileFormat::kHloProto);
  seeds[3] = *WriteModule(**module, FileFormat::kModuleTextProto);
  const long long count = std::atoll(argv[2]);
  for (long long i = 0; i < count; ++i) {
    // Text protos are slow to read: seldom.
    const int which = i % 16 == 15 ? 3 : static_cast<int>(i % 3);
    const std::string bytes = Damage(seeds[which], &random);
    std::FILE* last = std::fopen("reader_fuzzer.last", "wb");
    if (last != nullptr) {
      std::fwrite(bytes.data(), 1, bytes.size(), last);
      std::fclose(last);
    }
    ReadAnything(bytes);
  }
  std::printf("%lld damaged programs read\n", count);
  return 0;
}
#endif
