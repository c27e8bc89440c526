#include "isa/code.h"

namespace ptxla::isa {

void Block::AddNop(int n) {
  Instr nop{Opcode::kNop};
  nop.imm = n;
  Add({nop});
}

int64_t Block::Cycles() const {
  int64_t cycles = 0;
  for (int i = 0; i < NumBundles(); ++i) cycles += BundleCycles(Bundle(i));
  return cycles;
}

bool operator==(const Block& a, const Block& b) {
  return a.label == b.label && a.ends == b.ends && a.instrs == b.instrs;
}
bool operator==(const Loop& a, const Loop& b) {
  return a.counter == b.counter && a.trips == b.trips &&
         a.increment == b.increment && a.body == b.body && a.count == b.count;
}
bool operator==(const When& a, const When& b) {
  return a.dim == b.dim && a.kind == b.kind && a.body == b.body;
}
bool operator==(const Node& a, const Node& b) { return a.value == b.value; }

int64_t CountBundles(const Code& code) {
  int64_t n = 0;
  for (const Node& node : code) {
    if (const Block* block = node.block()) n += block->NumBundles();
    if (const Loop* loop = node.loop()) n += CountBundles(loop->body);
    if (const When* when = node.when()) n += CountBundles(when->body);
  }
  return n;
}

}  // namespace ptxla::isa
