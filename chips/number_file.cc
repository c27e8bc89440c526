#include "chips/number_file.h"

#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/suggest.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/text_format.h"

namespace ptxla::chips {
namespace {

// What the arithmetic of the simulator is sure to hold, far beyond any chip;
// in base units.
struct Reach {
  Dimension dimension;
  double least, most;
  const char* said;
};
constexpr Reach kReaches[] = {
    {Dimension::kFrequency, 1e6, 1e11, "but 1 MHz to 100 GHz"},
    {Dimension::kTime, 0, 1, "but at most 1 s"},
    {Dimension::kCycles, 0, 1e6, "but at most 1e6 cycles"},
    {Dimension::kRate, 1e6, 1e15, "but 1e-3 to 1e6 GB/s"},
    {Dimension::kBytes, 0, 0x1p50, "but at most 2^50 bytes"},
    {Dimension::kCount, 0, 65536, "but at most 65536"},
};

// Line of entry `i` of `number` in `text`, which parses.
int LineOf(absl::string_view text, int i) {
  google::protobuf::TextFormat::Parser parser;
  google::protobuf::TextFormat::ParseInfoTree tree;
  parser.WriteLocationsTo(&tree);
  ChipProto proto;
  google::protobuf::io::ArrayInputStream input(text.data(),
                                               static_cast<int>(text.size()));
  if (!parser.Parse(&input, &proto)) return 0;
  const auto* field = ChipProto::descriptor()->FindFieldByName("number");
  return tree.GetLocation(field, i).line + 1;
}

absl::StatusOr<Parameter> CheckNumber(const NumberProto& number) {
  if (number.key().empty()) {
    return absl::InvalidArgumentError("a number without a key");
  }
  const ParameterRule* rule = FindParameterRule(number.key());
  if (rule == nullptr) {
    std::vector<std::string> known;
    for (const ParameterRule& r : KnownParameters()) known.push_back(r.key);
    const std::string near = NearestName(number.key(), known);
    return absl::InvalidArgumentError(absl::StrCat(
        "unknown number \"", number.key(), "\"",
        near.empty() ? "" : absl::StrCat("; did you mean \"", near, "\"?")));
  }
  if (number.source().empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", number.key(), "\" has no source"));
  }
  if (number.confidence() == CONFIDENCE_UNSPECIFIED) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", number.key(),
        "\" has no confidence (PUBLISHED, DERIVED, CALIBRATED or ASSUMED)"));
  }
  Parameter p;
  p.key = number.key();
  p.written = number.value();
  p.unit = number.unit();
  p.source = number.source();
  p.confidence = number.confidence();
  p.rule = rule;
  ASSIGN_OR_RETURN(p.value,
                   ToBaseUnit(number.value(), number.unit(), rule->dimension),
                   _ << "\"" << number.key() << "\"");
  if (!std::isfinite(p.value) || p.value < 0) {
    return absl::InvalidArgumentError(absl::StrCat("\"", number.key(), "\" is ",
                                                   number.value(),
                                                   ": must not be negative"));
  }
  for (const Reach& reach : kReaches) {
    if (reach.dimension != rule->dimension || p.value == 0) continue;
    if (p.value < reach.least || p.value > reach.most) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", number.key(), "\" is ", number.value(), " ",
                       number.unit(), ": no chip has that, ", reach.said));
    }
  }
  if (rule->integer) {
    if (std::abs(p.value - std::round(p.value)) > 0.5 + 1e-9 ||
        (rule->dimension != Dimension::kBytes &&
         p.value != std::round(p.value))) {
      return absl::InvalidArgumentError(absl::StrCat(
          "\"", number.key(), "\" is ", number.value(), ": must be whole"));
    }
    p.value = std::floor(p.value);
  }
  if (rule->dimension == Dimension::kFraction && p.value > 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", number.key(), "\" is ", number.value(), ": must be at most 1"));
  }
  return p;
}

}  // namespace

absl::StatusOr<std::vector<Parameter>> ReadNumbers(const ChipProto& proto,
                                                   absl::string_view text,
                                                   absl::string_view name) {
  std::vector<Parameter> numbers;
  std::map<std::string, int> places;
  for (int i = 0; i < proto.number_size(); ++i) {
    ASSIGN_OR_RETURN(Parameter p, CheckNumber(proto.number(i)),
                     _ << name << ":" << LineOf(text, i));
    const auto [it, fresh] = places.emplace(p.key, i);
    if (!fresh) {
      return absl::InvalidArgumentError(absl::StrCat(
          name, ":", LineOf(text, i), ": \"", p.key,
          "\" is given twice, first on line ", LineOf(text, it->second)));
    }
    numbers.push_back(std::move(p));
  }
  return numbers;
}

}  // namespace ptxla::chips
