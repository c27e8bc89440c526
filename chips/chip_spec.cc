#include "chips/chip_spec.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/status.h"
#include "chips/compiler_policy.h"

namespace ptxla::chips {
namespace {

// The interval of the matmul instruction of a type; "s8" as in the ISA.
const char* MatmulKey(MatmulType type) {
  switch (type) {
    case MatmulType::kF32:
      return "matmul_f32";
    case MatmulType::kBf16:
      return "matmul_bf16";
    case MatmulType::kInt8:
      return "matmul_s8";
    case MatmulType::kFp8:
      return "matmul_fp8";
  }
  return "?";
}

}  // namespace

int RowsPerMatmul(MatmulType type) {
  switch (type) {
    case MatmulType::kF32:
      return 8;
    case MatmulType::kBf16:
      return 16;
    case MatmulType::kInt8:
    case MatmulType::kFp8:
      return 32;
  }
  return 8;
}

const Parameter* ChipSpec::Find(absl::string_view key) const {
  auto it = index_.find(key);
  return it == index_.end() ? nullptr : &parameters_[it->second];
}

std::optional<int> ChipSpec::Latency(absl::string_view name) const {
  const Parameter* p = Find(absl::StrCat("latency.", name));
  if (p == nullptr) return std::nullopt;
  return static_cast<int>(p->value);
}

std::optional<int> ChipSpec::Interval(absl::string_view name) const {
  const Parameter* p = Find(absl::StrCat("interval.", name));
  if (p == nullptr) return std::nullopt;
  return static_cast<int>(p->value);
}

std::optional<double> ChipSpec::Policy(absl::string_view name) const {
  if (const Parameter* p = Find(absl::StrCat("policy.", name))) return p->value;
  CHECK(PolicyNames().count(name) > 0) << "no chip has policy." << name;
  return std::nullopt;
}

double ChipSpec::MxuRowsPerCycle(MatmulType type) const {
  for (MatmulType t : {type, MatmulType::kBf16, MatmulType::kF32}) {
    if (std::optional<int> interval = Interval(MatmulKey(t))) {
      return static_cast<double>(RowsPerMatmul(t)) / *interval;
    }
  }
  return 0;
}

FlopsPerSecond ChipSpec::PeakMatmul(MatmulType type) const {
  return FlopsPerSecond(static_cast<double>(core_.cores_per_chip) * core_.mxus *
                        core_.mxu_rows * core_.mxu_cols * 2 *
                        MxuRowsPerCycle(type) *
                        core_.clock.frequency().count());
}

FlopsPerSecond ChipSpec::PeakVpu() const {
  return FlopsPerSecond(static_cast<double>(core_.cores_per_chip) *
                        slots_.valu * core_.lanes * core_.sublanes *
                        core_.clock.frequency().count());
}

std::vector<const Parameter*> ChipSpec::Assumed() const {
  std::vector<const Parameter*> assumed;
  for (const Parameter& p : parameters_) {
    if (p.confidence == ASSUMED) assumed.push_back(&p);
  }
  return assumed;
}

absl::StatusOr<ChipSpec> ChipSpec::WithValue(absl::string_view key,
                                             double value) const {
  auto it = index_.find(key);
  if (it == index_.end()) {
    return absl::NotFoundError(
        absl::StrCat("chip ", name_, " has no number \"", key, "\""));
  }
  ChipSpec copy = *this;
  Parameter& p = copy.parameters_[it->second];
  const double per_unit = p.written == 0 ? 1 : p.value / p.written;
  if (p.rule->integer && value != 0) {
    value = std::max(std::round(value), 1.0);
  }
  if (p.rule->dimension == Dimension::kFraction) value = std::min(value, 1.0);
  p.value = value;
  p.written = value / per_unit;
  RETURN_IF_ERROR(copy.Bind())
      << "chip " << name_ << " with " << key << " = " << value;
  return copy;
}

absl::StatusOr<ChipSpec> ChipSpec::WithScaled(absl::string_view key,
                                              double factor) const {
  const Parameter* p = Find(key);
  if (p == nullptr || p->value == 0) return WithValue(key, 0);
  return WithValue(key, p->value * factor);
}

}  // namespace ptxla::chips
