#include "isa/isa_page.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "isa/asm.h"

namespace ptxla::isa {
namespace {

// An instruction of `op` with the registers 0, 1, 2, 3 for d, a, b, c: its text
// shows the form.
std::string Form(Opcode op) {
  Instr i{op};
  i.dst = 0;
  i.a = 1;
  i.b = 2;
  i.c = 3;
  for (Operand operand : Info(op).operands) {
    if (operand == Operand::kBlock) i.b = 1;
    if (operand == Operand::kStage) i.c = 0;
    if (operand == Operand::kLatch) i.c = 1;
    if (operand == Operand::kGroup) i.c = 4;
    if (operand == Operand::kLaneRange) i.imm = 128 << 16;
    if (operand == Operand::kSublaneRange) i.imm2 = 8 << 16;
  }
  return Print(i);
}

std::string Slots(SlotMask mask) {
  std::vector<absl::string_view> names;
  for (int s = 0; s < kNumSlots; ++s) {
    if (mask >> s & 1) names.push_back(Name(static_cast<Slot>(s)));
  }
  return names.empty() ? "any" : absl::StrJoin(names, " + ");
}

absl::string_view OrDash(absl::string_view name) {
  return name == "none" || name == "one" ? "-" : name;
}

// Table cells may not hold a bar.
std::string Cell(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"|", "\\|"}});
}

void AddInstructions(std::string* out) {
  absl::StrAppend(out,
                  "| instruction | slots | latency | interval | fifo | what it "
                  "does |\n|---|---|---|---|---|---|\n");
  for (int op = 0; op < kNumOpcodes; ++op) {
    const InstrInfo& info = Info(static_cast<Opcode>(op));
    std::string fifo = "-";
    if (info.pushes != Fifo::kNone) {
      fifo = absl::StrCat("to ", Name(info.pushes));
    }
    if (info.pops != Fifo::kNone) fifo = absl::StrCat("from ", Name(info.pops));
    absl::StrAppend(out, "| `", Cell(Form(static_cast<Opcode>(op))), "` | ",
                    Slots(info.slots), " | ", OrDash(Name(info.latency)), " | ",
                    OrDash(Name(info.interval)), " | ", fifo, " | ",
                    Cell(info.doc), " |\n");
  }
}

}  // namespace

std::string IsaPage() {
  std::string out =
      "# The instruction set\n\n"
      "Made from `isa/instructions.def`; do not edit. "
      "`build/isa/ptxla_isa_page > docs/generated/isa.md` makes it anew.\n\n"
      "A bundle is a set of instructions that issue in one cycle, in braces: "
      "`{ v1 = vld [s1] ; v2 = vadd.f32 v3, v4 }`. Registers: `v` vector "
      "(8 x 128 words of 32 bits), `s` scalar, `m` vector mask (a bit per bit "
      "of a vector), `p` predicate; `@p1` or `@!p1` in front guards an "
      "instruction. The pipeline is exposed: a result may be read `latency` "
      "cycles after its instruction, and popping a FIFO early is an error. "
      "Instructions of a bundle read registers and memory as they were before "
      "it. Matrix units: `isa/mxu.h`; windows and DMA: `isa/kernel.h`; the "
      "text form: `isa/asm.h`. Latencies and intervals are names: each chip "
      "file gives their cycles (`latency.NAME`, `interval.NAME`), and a chip "
      "without the number lacks the instruction.\n\n"
      "## Instructions\n\n";
  AddInstructions(&out);
  return out;
}

}  // namespace ptxla::isa
