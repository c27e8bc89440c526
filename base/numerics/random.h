// Random bits as XLA defines them, and as the simulated TPU makes them.
//
// rng-bit-generator has three algorithms. rng_three_fry and rng_philox are
// fixed by XLA; their words are in threefry.h / philox below. rng_default is
// the hardware's: on a TPU each `vrng` instruction fills one vector register.
// No public text says what the bits are, so here they are words of a
// counter-based generator, one per 32-bit word of the result's PHYSICAL tiled
// buffer (tiled_words.h): a kernel's vrng for vreg v makes the words
// [v * 1024, v * 1024 + 1024), and the evaluator, which knows no registers,
// makes the same.
//
//   HardwareRandomFill(key_lo, key_hi, vreg * 1024, absl::MakeSpan(words));
#ifndef PTXLA_BASE_NUMERICS_RANDOM_H_
#define PTXLA_BASE_NUMERICS_RANDOM_H_

#include <array>
#include <cstdint>

#include "absl/types/span.h"

namespace ptxla::numerics {

// Threefry-2x32, 20 rounds, and Philox-4x32, 10 rounds (Salmon et al.,
// "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
std::array<uint32_t, 2> ThreeFry2x32(std::array<uint32_t, 2> counter,
                                     std::array<uint32_t, 2> key);
std::array<uint32_t, 4> Philox4x32(std::array<uint32_t, 4> counter,
                                   std::array<uint32_t, 2> key);

// Word `word_index` of the stream (key_lo, key_hi) of the simulated
// hardware's generator: word (word_index mod 4) of Philox-4x32 with key
// `key_lo` and counter {word_index / 4, key_hi}.
uint32_t HardwareRandomWord(uint64_t key_lo, uint64_t key_hi,
                            uint64_t word_index);

// Words first_word, first_word + 1, ... of that stream; four at a time.
void HardwareRandomFill(uint64_t key_lo, uint64_t key_hi, uint64_t first_word,
                        absl::Span<uint32_t> words);

}  // namespace ptxla::numerics

#endif  // PTXLA_BASE_NUMERICS_RANDOM_H_
