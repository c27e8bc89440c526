#include "base/numerics/random.h"

namespace ptxla::numerics {
namespace {

uint32_t RotateLeft(uint32_t v, int distance) {
  return (v << distance) | (v >> (32 - distance));
}

std::array<uint32_t, 4> HardwareBlock(uint64_t key_lo, uint64_t key_hi,
                                      uint64_t block) {
  return Philox4x32(
      {static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32),
       static_cast<uint32_t>(key_hi), static_cast<uint32_t>(key_hi >> 32)},
      {static_cast<uint32_t>(key_lo), static_cast<uint32_t>(key_lo >> 32)});
}

}  // namespace

std::array<uint32_t, 2> ThreeFry2x32(std::array<uint32_t, 2> x,
                                     std::array<uint32_t, 2> key) {
  constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  constexpr uint32_t kParity = 0x1bd11bda;
  const uint32_t schedule[3] = {key[0], key[1], kParity ^ key[0] ^ key[1]};
  x[0] += schedule[0];
  x[1] += schedule[1];
  for (uint32_t group = 1; group <= 5; ++group) {
    for (int rotation : kRotations[(group - 1) % 2]) {
      x[0] += x[1];
      x[1] = RotateLeft(x[1], rotation) ^ x[0];
    }
    x[0] += schedule[group % 3];
    x[1] += schedule[(group + 1) % 3] + group;
  }
  return x;
}

std::array<uint32_t, 4> Philox4x32(std::array<uint32_t, 4> x,
                                   std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xd2511f53} * x[0];
    const uint64_t b = uint64_t{0xcd9e8d57} * x[2];
    x = {static_cast<uint32_t>(b >> 32) ^ x[1] ^ key[0],
         static_cast<uint32_t>(b),
         static_cast<uint32_t>(a >> 32) ^ x[3] ^ key[1],
         static_cast<uint32_t>(a)};
    key[0] += 0x9e3779b9;
    key[1] += 0xbb67ae85;
  }
  return x;
}

uint32_t HardwareRandomWord(uint64_t key_lo, uint64_t key_hi,
                            uint64_t word_index) {
  return HardwareBlock(key_lo, key_hi, word_index / 4)[word_index % 4];
}

void HardwareRandomFill(uint64_t key_lo, uint64_t key_hi, uint64_t first_word,
                        absl::Span<uint32_t> words) {
  size_t i = 0;
  while (i < words.size()) {
    const uint64_t index = first_word + i;
    const auto block = HardwareBlock(key_lo, key_hi, index / 4);
    for (size_t j = index % 4; j < 4 && i < words.size(); ++j, ++i) {
      words[i] = block[j];
    }
  }
}

}  // namespace ptxla::numerics
