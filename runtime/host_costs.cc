#include "runtime/host_costs.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"
#include "base/suggest.h"
#include "base/text_proto.h"
#include "embed/runtime_host_costs.h"
#include "runtime/host_costs.pb.h"

namespace ptxla::runtime {
namespace {

using chips::Dimension;

struct Field {
  const char* key;
  Picoseconds HostCosts::*time;
};

constexpr Field kTimes[] = {
    {"host.barrier", &HostCosts::barrier},
    {"host.launch", &HostCosts::launch},
    {"host.launch_buffer", &HostCosts::launch_buffer},
    {"host.read_back", &HostCosts::read_back},
    {"host.transfer_issue", &HostCosts::transfer_issue},
    {"compile.fixed", &HostCosts::compile_fixed},
    {"compile.instruction", &HostCosts::compile_instruction},
};

struct WorkField {
  const char* key;
  bool scaled;  // processor time: times host.slowness
};

constexpr WorkField kWorks[] = {
#define PTXLA_X(e, key, span, scaled) {key, scaled},
    PTXLA_HOST_WORKS(PTXLA_X)
#undef PTXLA_X
};

// host.slowness, host.pcie, host.queue_depth, compile.band.
constexpr int kOtherNumbers = 4;

// Fills the typed fields from `numbers`.
absl::Status Bind(HostCosts* costs) {
  int bound = 0;
  costs->slowness = 1;
  for (const HostCosts::Number& n : costs->numbers) {
    if (n.key == "host.slowness") costs->slowness = n.value;
  }
  for (const HostCosts::Number& n : costs->numbers) {
    const auto base = [&](Dimension d) {
      return chips::ToBaseUnit(n.value, n.unit, d);
    };
    bool known = false;
    for (const Field& field : kTimes) {
      if (n.key != field.key) continue;
      ASSIGN_OR_RETURN(const double seconds, base(Dimension::kTime),
                       _ << n.key);
      costs->*field.time = FromSeconds(seconds);
      known = true;
    }
    for (int i = 0; i < kHostWorkCount; ++i) {
      if (n.key != kWorks[i].key) continue;
      ASSIGN_OR_RETURN(const double seconds, base(Dimension::kTime),
                       _ << n.key);
      costs->works[i] =
          FromSeconds(kWorks[i].scaled ? seconds * costs->slowness : seconds);
      known = true;
    }
    if (n.key == "host.slowness") {
      known = true;
    } else if (n.key == "host.pcie") {
      ASSIGN_OR_RETURN(const double rate, base(Dimension::kRate), _ << n.key);
      costs->pcie = BytesPerSecond(rate);
      known = true;
    } else if (n.key == "host.queue_depth") {
      costs->queue_depth = static_cast<int>(n.value);
      known = true;
    } else if (n.key == "compile.band") {
      costs->compile_band = n.value;
      known = true;
    }
    if (!known) {
      return absl::InvalidArgumentError(
          absl::StrCat("unknown host cost ", n.key));
    }
    ++bound;
  }
  CHECK_EQ(bound, std::size(kTimes) + std::size(kWorks) + kOtherNumbers)
      << "data/host.textproto misses a number";
  return absl::OkStatus();
}

// A chip file takes any key below "host.": those that are neither a cost nor
// the chip's own are misspelt.
absl::Status CheckOverrides(const HostCostsProto& proto,
                            const chips::ChipSpec& chip) {
  std::vector<std::string> known;
  for (const chips::NumberProto& p : proto.number()) known.push_back(p.key());
  for (const chips::Parameter& p : chip.parameters()) {
    if (!absl::StartsWith(p.key, "host.") ||
        absl::StartsWith(p.key, "host.chips_") ||
        std::find(known.begin(), known.end(), p.key) != known.end()) {
      continue;
    }
    return absl::InvalidArgumentError(
        UnknownName("host cost", p.key, known).message());
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<HostCosts> HostCosts::For(const chips::ChipSpec& chip) {
  HostCostsProto proto;
  RETURN_IF_ERROR(
      ParseTextProto(kHostCosts[0].text, kHostCosts[0].name, &proto));
  RETURN_IF_ERROR(CheckOverrides(proto, chip)) << "chip " << chip.name();
  HostCosts costs;
  for (const chips::NumberProto& p : proto.number()) {
    Number n{p.key(), p.value(), p.unit(), p.source(), p.confidence()};
    const char* key = p.key() == "host.pcie" ? "pcie.bandwidth" : nullptr;
    const chips::Parameter* own = chip.Find(key ? key : p.key());
    if (own != nullptr) {
      n.value = own->written;
      n.unit = own->unit;
      n.source = own->source;
      n.confidence = own->confidence;
    }
    costs.numbers.push_back(std::move(n));
  }
  RETURN_IF_ERROR(Bind(&costs)) << "host costs of " << chip.name();
  return costs;
}

absl::StatusOr<HostCosts> HostCosts::WithScaled(absl::string_view key,
                                                double factor) const {
  HostCosts scaled = *this;
  bool found = false;
  for (Number& n : scaled.numbers) {
    if (n.key != key) continue;
    n.value *= factor;
    found = true;
  }
  if (!found) {
    return absl::NotFoundError(absl::StrCat("no host cost ", key));
  }
  RETURN_IF_ERROR(Bind(&scaled));
  return scaled;
}

}  // namespace ptxla::runtime
