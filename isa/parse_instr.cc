#include "isa/parse_instr.h"

#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/suggest.h"

namespace ptxla::isa {
namespace {

constexpr int64_t kMinImm = std::numeric_limits<int32_t>::min();
constexpr int64_t kMaxImm = std::numeric_limits<int32_t>::max();
// Immediates may be written signed or as 32 unsigned bits.
constexpr int64_t kMaxBits = std::numeric_limits<uint32_t>::max();

// "v12" with prefix "v" -> 12.
absl::Status Numbered(Scanner* s, absl::string_view prefix, int32_t max,
                      int32_t* out) {
  const absl::string_view word = s->PeekWord();
  if (!absl::StartsWith(word, prefix) ||
      !absl::SimpleAtoi(word.substr(prefix.size()), out) || *out < 0 ||
      *out > max) {
    return s->Error(absl::StrCat("expected ", prefix, "N"));
  }
  return s->Word("").status();
}

absl::Status Index(Scanner* s, absl::string_view prefix, int32_t* out) {
  return Numbered(s, prefix, std::numeric_limits<int32_t>::max(), out);
}

absl::Status Reg(Scanner* s, absl::string_view prefix, uint8_t* out) {
  if (s->Take('-')) {
    *out = kNoReg;
    return absl::OkStatus();
  }
  int32_t value = 0;
  RETURN_IF_ERROR(Numbered(s, prefix, 63, &value));
  *out = static_cast<uint8_t>(value);
  return absl::OkStatus();
}

absl::Status Imm(Scanner* s, int32_t* out) {
  ASSIGN_OR_RETURN(const int64_t value, s->Integer(kMinImm, kMaxBits));
  *out = static_cast<int32_t>(static_cast<uint32_t>(value));
  return absl::OkStatus();
}

absl::Status RegOrImm(Scanner* s, char letter, Instr* i) {
  const absl::string_view word = s->PeekWord();
  if (!word.empty()) return Reg(s, std::string(1, letter), &i->b);
  i->b = kNoReg;
  return Imm(s, &i->imm);
}

absl::Status Address(Scanner* s, Instr* i) {
  RETURN_IF_ERROR(s->Expect('['));
  i->a = kNoReg;
  if (!s->PeekWord().empty()) {
    RETURN_IF_ERROR(Reg(s, "s", &i->a));
  }
  if (!s->NextIs(']')) {
    ASSIGN_OR_RETURN(const int64_t value, s->Integer(kMinImm, kMaxImm));
    i->imm = static_cast<int32_t>(value);
  }
  return s->Expect(']');
}

absl::Status Named(Scanner* s, absl::string_view name, int64_t lo, int64_t hi,
                   int64_t* out) {
  if (!s->TakeWord(name)) return s->Error(absl::StrCat("expected ", name, "="));
  RETURN_IF_ERROR(s->Expect('='));
  ASSIGN_OR_RETURN(*out, s->Integer(lo, hi));
  return absl::OkStatus();
}

absl::Status Range(Scanner* s, absl::string_view name, int32_t* out) {
  int64_t lo = 0;
  RETURN_IF_ERROR(Named(s, name, 0, 0x7FFF, &lo));
  RETURN_IF_ERROR(s->Expect(':'));
  ASSIGN_OR_RETURN(const int64_t hi, s->Integer(0, 0x7FFF));
  *out = static_cast<int32_t>(lo | hi << 16);
  return absl::OkStatus();
}

absl::Status Stage(Scanner* s, int base, uint8_t* out) {
  for (int stage = 0; stage < 2; ++stage) {
    if (s->TakeWord(stage == 0 ? "msra" : "msrb")) {
      *out = static_cast<uint8_t>(base + stage);
      return absl::OkStatus();
    }
  }
  return s->Error("expected msra or msrb");
}

absl::Status ParseNamed(Scanner* s, Operand operand, Instr* i) {
  int64_t value = 0;
  switch (operand) {
    case Operand::kStride:
      RETURN_IF_ERROR(Named(s, "stride", kMinImm, kMaxImm, &value));
      i->imm2 = static_cast<int32_t>(value);
      return absl::OkStatus();
    case Operand::kGroup:
      RETURN_IF_ERROR(Named(s, "group", 1, 8, &value));
      i->c = static_cast<uint8_t>(value);
      return absl::OkStatus();
    case Operand::kRow:
      RETURN_IF_ERROR(Named(s, "row", 0, 127, &value));
      i->imm = static_cast<int32_t>(value);
      return absl::OkStatus();
    case Operand::kBlock:
      RETURN_IF_ERROR(Named(s, "block", 1, 3, &value));
      i->b = static_cast<uint8_t>(value);
      return absl::OkStatus();
    case Operand::kLaneRange:
      return Range(s, "lanes", &i->imm);
    case Operand::kSublaneRange:
      return Range(s, "sublanes", &i->imm2);
    case Operand::kStage:
      return Stage(s, 0, &i->c);
    default:
      return absl::InternalError("operand without a text form");
  }
}

absl::Status ParseSource(Scanner* s, Operand operand, Instr* i) {
  switch (operand) {
    case Operand::kVa:
      return Reg(s, "v", &i->a);
    case Operand::kVb:
      return Reg(s, "v", &i->b);
    case Operand::kVc:
      return Reg(s, "v", &i->c);
    case Operand::kVbImm:
      return RegOrImm(s, 'v', i);
    case Operand::kSa:
      return Reg(s, "s", &i->a);
    case Operand::kSb:
      return Reg(s, "s", &i->b);
    case Operand::kSbImm:
      return RegOrImm(s, 's', i);
    case Operand::kMa:
      return Reg(s, "m", &i->a);
    case Operand::kMb:
      return Reg(s, "m", &i->b);
    case Operand::kMc:
      return Reg(s, "m", &i->c);
    case Operand::kMdRead:
      return Reg(s, "m", &i->dst);
    case Operand::kPa:
      return Reg(s, "p", &i->a);
    case Operand::kPb:
      return Reg(s, "p", &i->b);
    case Operand::kPc:
      return Reg(s, "p", &i->c);
    case Operand::kImm:
    case Operand::kHex:
      return Imm(s, &i->imm);
    case Operand::kImm2:
      return Imm(s, &i->imm2);
    case Operand::kAddr:
      return Address(s, i);
    case Operand::kWindow:
      return Index(s, "w", &i->imm);
    case Operand::kDescriptor:
      return Index(s, "d", &i->imm);
    case Operand::kArg:
      return Index(s, "arg", &i->imm);
    case Operand::kSemaphore:
      return Index(s, "sem", &i->imm);
    default:
      return ParseNamed(s, operand, i);
  }
}

absl::string_view DestinationPrefix(Operand operand) {
  switch (operand) {
    case Operand::kVd:
      return "v";
    case Operand::kSd:
      return "s";
    case Operand::kMd:
      return "m";
    case Operand::kPd:
      return "p";
    default:
      return "";
  }
}

absl::Status ParseGuard(Scanner* s, Instr* i) {
  if (!s->Take('@')) return absl::OkStatus();
  const bool negate = s->Take('!');
  uint8_t predicate = 0;
  RETURN_IF_ERROR(Reg(s, "p", &predicate));
  i->guard = negate ? GuardIfNot(predicate) : GuardIf(predicate);
  return absl::OkStatus();
}

// "vmatmul.bf16.mxu1" -> opcode and unit.
absl::Status ParseMnemonic(Scanner* s, Instr* i) {
  absl::string_view word = s->PeekWord();
  absl::string_view stem = word;
  if (word.size() > 5) {
    const absl::string_view tail = word.substr(word.size() - 5);
    if ((absl::StartsWith(tail, ".mxu") || absl::StartsWith(tail, ".xlu")) &&
        absl::ascii_isdigit(tail[4]) && tail[4] - '0' < kMaxUnits) {
      i->unit = static_cast<uint8_t>(tail[4] - '0');
      stem = word.substr(0, word.size() - 5);
    }
  }
  const std::optional<Opcode> op = FindOpcode(stem);
  if (!op.has_value()) {
    std::vector<std::string> known;
    for (const InstrInfo& info : InstructionTable()) {
      known.emplace_back(info.mnemonic);
    }
    const std::string near = NearestName(stem, known);
    return s->Error(absl::StrCat(
        "unknown instruction \"", word, "\"",
        near.empty() ? "" : absl::StrCat("; did you mean \"", near, "\"?")));
  }
  i->op = *op;
  return s->Word("").status();
}

absl::Status ParseBundle(Scanner* s, Block* block) {
  std::vector<Instr> bundle;
  if (!s->Take('}')) {
    do {
      RETURN_IF_ERROR(ParseInstr(s, &bundle.emplace_back()));
    } while (s->Take(';'));
    RETURN_IF_ERROR(s->Expect('}'));
  }
  block->Add(bundle);
  return absl::OkStatus();
}

absl::Status ParseLoop(Scanner* s, Code* code) {
  Loop loop;
  RETURN_IF_ERROR(Reg(s, "s", &loop.counter));
  if (!s->TakeWord("step")) return s->Error("expected `step`");
  ASSIGN_OR_RETURN(const int64_t step, s->Integer(kMinImm, kMaxImm));
  loop.increment = static_cast<int32_t>(step);
  if (!s->TakeWord("times")) return s->Error("expected `times`");
  ASSIGN_OR_RETURN(loop.trips,
                   s->Integer(0, std::numeric_limits<int64_t>::max()));
  if (s->TakeWord("of")) RETURN_IF_ERROR(Reg(s, "s", &loop.count));
  RETURN_IF_ERROR(s->Expect('{'));
  RETURN_IF_ERROR(ParseNodes(s, true, &loop.body));
  code->push_back(std::move(loop));
  return absl::OkStatus();
}

absl::Status ParseWhen(Scanner* s, Code* code) {
  constexpr absl::string_view kKinds[] = {"first", "not_first", "last",
                                          "not_last"};
  When when;
  int kind = 0;
  while (kind < 4 && !s->TakeWord(kKinds[kind])) ++kind;
  if (kind == 4) {
    return s->Error("expected first, not_first, last or not_last");
  }
  when.kind = static_cast<When::Kind>(kind);
  if (s->TakeWord(kCoreShareWord)) {
    when.dim = kCoreShare;
  } else {
    ASSIGN_OR_RETURN(const int64_t dim, s->Integer(0, 63));
    when.dim = static_cast<int>(dim);
  }
  RETURN_IF_ERROR(s->Expect('{'));
  RETURN_IF_ERROR(ParseNodes(s, true, &when.body));
  code->push_back(std::move(when));
  return absl::OkStatus();
}

}  // namespace

absl::Status ParseInstr(Scanner* s, Instr* i) {
  RETURN_IF_ERROR(ParseGuard(s, i));
  // A destination is a register word followed by '='. Which letter it must
  // have is known only after the mnemonic.
  absl::string_view destination;
  if (!FindOpcode(s->PeekWord()).has_value()) {
    Scanner ahead = *s;
    const absl::string_view word = ahead.PeekWord();
    if (!word.empty() && ahead.TakeWord(word) && ahead.Take('=')) {
      destination = word;
      *s = ahead;
    }
  }
  RETURN_IF_ERROR(ParseMnemonic(s, i));
  const InstrInfo& info = Info(i->op);
  const absl::string_view prefix = DestinationPrefix(info.operands[0]);
  if (destination.empty() != prefix.empty()) {
    return s->Error(absl::StrCat(info.mnemonic, prefix.empty()
                                                    ? " has no destination"
                                                    : " needs a destination"));
  }
  if (!prefix.empty()) {
    Scanner word(destination, "destination");
    if (!Reg(&word, prefix, &i->dst).ok()) {
      return s->Error(absl::StrCat(info.mnemonic, " writes a register ", prefix,
                                   "N, not \"", destination, "\""));
    }
  }
  bool first = true;
  for (Operand operand : info.operands) {
    if (operand == Operand::kNone) break;
    if (!DestinationPrefix(operand).empty()) continue;
    if (operand == Operand::kLatch) {
      if (!s->Take(',')) continue;
      if (!s->TakeWord("latch")) return s->Error("expected latch=");
      RETURN_IF_ERROR(s->Expect('='));
      RETURN_IF_ERROR(Stage(s, 1, &i->c));
      continue;
    }
    if (!first) {
      RETURN_IF_ERROR(s->Expect(','));
    }
    first = false;
    RETURN_IF_ERROR(ParseSource(s, operand, i));
  }
  return absl::OkStatus();
}

absl::Status ParseNodes(Scanner* s, bool braces, Code* code) {
  RETURN_IF_ERROR(s->Enter());
  while (true) {
    if (braces ? s->Take('}') : s->AtEnd()) {
      s->Leave();
      return absl::OkStatus();
    }
    if (s->TakeWord("loop")) {
      RETURN_IF_ERROR(ParseLoop(s, code));
    } else if (s->TakeWord("when")) {
      RETURN_IF_ERROR(ParseWhen(s, code));
    } else if (s->TakeWord("block")) {
      Block block;
      ASSIGN_OR_RETURN(block.label, s->Quoted());
      RETURN_IF_ERROR(s->Expect('{'));
      while (!s->Take('}')) {
        RETURN_IF_ERROR(s->Expect('{'));
        RETURN_IF_ERROR(ParseBundle(s, &block));
      }
      code->push_back(std::move(block));
    } else {
      return s->Error("expected `block`, `loop`, `when` or '}'");
    }
  }
}

}  // namespace ptxla::isa
