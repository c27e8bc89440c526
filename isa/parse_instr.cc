#include "isa/parse_instr.h"

#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/suggest.h"
#include "isa/parse_operand.h"

namespace ptxla::isa {
namespace {

absl::Status ParseGuard(Scanner* s, Instr* i) {
  if (!s->Take('@')) return absl::OkStatus();
  const bool negate = s->Take('!');
  uint8_t predicate = 0;
  RETURN_IF_ERROR(ParseRegister(s, "p", &predicate));
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
  RETURN_IF_ERROR(ParseRegister(s, "s", &loop.counter));
  if (!s->TakeWord("step")) return s->Error("expected `step`");
  ASSIGN_OR_RETURN(const int64_t step, s->Integer(kMinImm, kMaxImm));
  loop.increment = static_cast<int32_t>(step);
  if (!s->TakeWord("times")) return s->Error("expected `times`");
  ASSIGN_OR_RETURN(loop.trips,
                   s->Integer(0, std::numeric_limits<int64_t>::max()));
  if (s->TakeWord("of")) RETURN_IF_ERROR(ParseRegister(s, "s", &loop.count));
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
    if (!ParseRegister(&word, prefix, &i->dst).ok()) {
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
      RETURN_IF_ERROR(ParseLatch(s, i));
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
