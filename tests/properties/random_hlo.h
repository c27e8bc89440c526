// Seeded random HLO modules of the sort that one to a few kernels come of:
// chains of mixed types, reductions over any dimensions, products of ragged
// shapes with prologue and epilogue, transposes, slices, concatenates, gathers,
// broadcasts. Sizes are 1, 7, 127, 129 and 1000 mixed with round ones, small
// enough that their bundles run on data in milliseconds.
//
//   RandomHlo m = MakeRandomHlo(17);
//   auto module = hlo::ParseModule(m.text);
//
// The same text for a seed on every machine.
#ifndef PTXLA_TESTS_PROPERTIES_RANDOM_HLO_H_
#define PTXLA_TESTS_PROPERTIES_RANDOM_HLO_H_

#include <cstdint>
#include <string>

namespace ptxla::testing {

struct RandomHlo {
  std::string text;
  std::string family;  // "reduction"
  // Some value on the way is rounded to 8 bits of fraction (bf16, operands of a
  // product), so that results of two correct machines can be that far apart.
  bool coarse = false;
  // Largest integer that a parameter may hold: an index stays in bounds, a sum
  // in range.
  int64_t integer_limit = 100;
};

RandomHlo MakeRandomHlo(uint64_t seed);

// Of families; MakeRandomHlo takes them in turn, so that any run of this many
// seeds has one of each.
int NumFamilies();

}  // namespace ptxla::testing

#endif  // PTXLA_TESTS_PROPERTIES_RANDOM_HLO_H_
