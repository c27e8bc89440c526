// Code of a kernel: a tree of straight blocks, counted loops and grid-step
// conditions. Blocks keep their instructions in one flat array.
//
//   Block block;
//   block.Add({add, mul});            // one bundle of two instructions
//   Node loop = Loop{5, 16, 4096, {std::move(block)}};
#ifndef PTXLA_ISA_CODE_H_
#define PTXLA_ISA_CODE_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/types/span.h"
#include "isa/instruction.h"

namespace ptxla::isa {

struct Node;
using Code = std::vector<Node>;

struct Block {
  std::string label;  // what it does, for listings: "load weights"
  std::vector<Instr> instrs;
  std::vector<uint32_t> ends;  // ends[i]: one past bundle i in `instrs`

  int NumBundles() const { return static_cast<int>(ends.size()); }
  absl::Span<const Instr> Bundle(int i) const {
    const uint32_t begin = i == 0 ? 0 : ends[i - 1];
    return absl::MakeConstSpan(instrs).subspan(begin, ends[i] - begin);
  }
  void Add(absl::Span<const Instr> bundle) {
    instrs.insert(instrs.end(), bundle.begin(), bundle.end());
    ends.push_back(static_cast<uint32_t>(instrs.size()));
  }
  void Add(std::initializer_list<Instr> bundle) {
    Add(absl::MakeConstSpan(bundle.begin(), bundle.size()));
  }
  // n empty bundles, n >= 1.
  void AddNop(int n);
  // Cycles without DMA stalls: bundles, each nop counted with its n.
  int64_t Cycles() const;
};

// The body runs `trips` times; sreg `counter` is 0, increment, 2 * increment,
// ... at its start (the body must not write it). One iteration takes at least
// 1 + branch_delay_slots cycles. counter == kNoReg: no register.
//
// With `count`, an sreg that holds the number of trips when the loop begins
// (signed; below 1: none), data decide: `trips` is what timing assumes.
struct Loop {
  uint8_t counter = kNoReg;
  int64_t trips = 1;
  int32_t increment = 1;
  Code body;
  uint8_t count = kNoReg;
};

// Runs in the grid steps whose index in dimension `dim` is (not) the first or
// last of the whole grid. Costs nothing: the step's control chooses the code.
// Only in step code. `dim` may be kCoreShare: first (last) of the indices that
// the core has of the dimension that cores share.
inline constexpr int kCoreShare = 15;  // grids have fewer dimensions
inline constexpr char kCoreShareWord[] = "share";  // in text
struct When {
  enum class Kind : uint8_t { kFirst, kNotFirst, kLast, kNotLast };
  int dim = 0;
  Kind kind = Kind::kFirst;
  Code body;
};

struct Node {
  std::variant<Block, Loop, When> value;

  Node(Block block) : value(std::move(block)) {}  // NOLINT
  Node(Loop loop) : value(std::move(loop)) {}     // NOLINT
  Node(When when) : value(std::move(when)) {}     // NOLINT

  const Block* block() const { return std::get_if<Block>(&value); }
  const Loop* loop() const { return std::get_if<Loop>(&value); }
  const When* when() const { return std::get_if<When>(&value); }
  Block* block() { return std::get_if<Block>(&value); }
  Loop* loop() { return std::get_if<Loop>(&value); }
  When* when() { return std::get_if<When>(&value); }
};

bool operator==(const Block& a, const Block& b);
bool operator==(const Loop& a, const Loop& b);
bool operator==(const When& a, const When& b);
bool operator==(const Node& a, const Node& b);

// Bundles in the text (loops counted once).
int64_t CountBundles(const Code& code);

}  // namespace ptxla::isa

#endif  // PTXLA_ISA_CODE_H_
