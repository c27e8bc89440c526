#include "isa/parse_operand.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace ptxla::isa {
namespace {

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

absl::Status Imm(Scanner* s, int32_t* out) {
  ASSIGN_OR_RETURN(const int64_t value, s->Integer(kMinImm, kMaxBits));
  *out = static_cast<int32_t>(static_cast<uint32_t>(value));
  return absl::OkStatus();
}

absl::Status RegOrImm(Scanner* s, char letter, Instr* i) {
  const absl::string_view word = s->PeekWord();
  if (!word.empty()) return ParseRegister(s, std::string(1, letter), &i->b);
  i->b = kNoReg;
  return Imm(s, &i->imm);
}

absl::Status Address(Scanner* s, Instr* i) {
  RETURN_IF_ERROR(s->Expect('['));
  i->a = kNoReg;
  if (!s->PeekWord().empty()) {
    RETURN_IF_ERROR(ParseRegister(s, "s", &i->a));
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

}  // namespace

absl::Status ParseRegister(Scanner* s, absl::string_view prefix, uint8_t* out) {
  if (s->Take('-')) {
    *out = kNoReg;
    return absl::OkStatus();
  }
  int32_t value = 0;
  RETURN_IF_ERROR(Numbered(s, prefix, 63, &value));
  *out = static_cast<uint8_t>(value);
  return absl::OkStatus();
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

absl::Status ParseSource(Scanner* s, Operand operand, Instr* i) {
  switch (operand) {
    case Operand::kVa:
      return ParseRegister(s, "v", &i->a);
    case Operand::kVb:
      return ParseRegister(s, "v", &i->b);
    case Operand::kVc:
      return ParseRegister(s, "v", &i->c);
    case Operand::kVbImm:
      return RegOrImm(s, 'v', i);
    case Operand::kSa:
      return ParseRegister(s, "s", &i->a);
    case Operand::kSb:
      return ParseRegister(s, "s", &i->b);
    case Operand::kSbImm:
      return RegOrImm(s, 's', i);
    case Operand::kMa:
      return ParseRegister(s, "m", &i->a);
    case Operand::kMb:
      return ParseRegister(s, "m", &i->b);
    case Operand::kMc:
      return ParseRegister(s, "m", &i->c);
    case Operand::kMdRead:
      return ParseRegister(s, "m", &i->dst);
    case Operand::kPa:
      return ParseRegister(s, "p", &i->a);
    case Operand::kPb:
      return ParseRegister(s, "p", &i->b);
    case Operand::kPc:
      return ParseRegister(s, "p", &i->c);
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

absl::Status ParseLatch(Scanner* s, Instr* i) {
  if (!s->TakeWord("latch")) return s->Error("expected latch=");
  RETURN_IF_ERROR(s->Expect('='));
  return Stage(s, 1, &i->c);
}

}  // namespace ptxla::isa
