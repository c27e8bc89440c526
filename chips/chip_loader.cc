// Chip files to ChipSpec and back: which numbers must exist, in which unit,
// and how they become the typed groups.
#include <array>
#include <cstring>
#include <iterator>
#include <utility>

#include "absl/base/call_once.h"
#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/status.h"
#include "base/suggest.h"
#include "base/text_proto.h"
#include "chips/chip_spec.h"
#include "chips/compiler_policy.h"
#include "chips/number_file.h"
#include "embed/chip_files.h"

namespace ptxla::chips {
namespace {

absl::Status CheckPrices(const ChipProto& proto, absl::string_view name) {
  for (const PriceProto& price : proto.price()) {
    if (price.source().empty() || price.date().empty() ||
        price.region().empty() || price.kind().empty() ||
        price.confidence() == CONFIDENCE_UNSPECIFIED) {
      return absl::InvalidArgumentError(absl::StrCat(
          name, ": a price needs region, kind, date, source and confidence"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<std::string> ChipSpec::Names() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : kChipFiles) {
    const absl::string_view name = file.name;
    names.emplace_back(name.substr(0, name.find('.')));
  }
  return names;
}

// Read once: a validation asks for the same chips thousands of times.
absl::StatusOr<ChipSpec> ChipSpec::Load(absl::string_view name) {
  struct Read {
    absl::once_flag once;
    absl::StatusOr<ChipSpec> chip = absl::UnknownError("not read");
  };
  static auto& files = *new std::array<Read, std::size(kChipFiles)>;
  for (size_t n = 0; n < files.size(); ++n) {
    const EmbeddedFile& file = kChipFiles[n];
    if (absl::StrCat(name, ".chip.textproto") != file.name) continue;
    absl::call_once(files[n].once,
                    [&] { files[n].chip = Parse(file.text, file.name); });
    return files[n].chip;
  }
  // What slices call it.
  std::vector<std::string> known;
  for (const std::string& own : Names()) {
    ASSIGN_OR_RETURN(ChipSpec chip, Load(own));
    known.push_back(own);
    for (const std::string& prefix : chip.slices().name_prefix()) {
      if (prefix == name) return chip;
      if (prefix != own) known.push_back(prefix);
    }
  }
  return UnknownName("chip", name, known);
}

absl::StatusOr<ChipSpec> ChipSpec::LoadFile(const std::string& path) {
  ASSIGN_OR_RETURN(std::string text, ReadFile(path));
  ASSIGN_OR_RETURN(ChipSpec chip, Parse(text, path));
  RETURN_IF_ERROR(CheckPolicyNames(chip)) << path;
  return chip;
}

absl::StatusOr<ChipSpec> ChipSpec::Parse(absl::string_view text,
                                         absl::string_view name) {
  ChipProto proto;
  RETURN_IF_ERROR(ParseTextProto(text, name, &proto));
  if (proto.name().empty()) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": no name"));
  }
  RETURN_IF_ERROR(CheckPrices(proto, name));
  ChipSpec spec;
  spec.name_ = proto.name();
  spec.title_ = proto.title().empty() ? proto.name() : proto.title();
  spec.generation_ = proto.generation();
  spec.slices_ = proto.slices();
  spec.prices_.assign(proto.price().begin(), proto.price().end());
  ASSIGN_OR_RETURN(spec.parameters_, ReadNumbers(proto, text, name));
  for (size_t i = 0; i < spec.parameters_.size(); ++i) {
    spec.index_.emplace(spec.parameters_[i].key, static_cast<int>(i));
  }
  for (const ParameterRule& rule : KnownParameters()) {
    if (rule.required && spec.Find(rule.key) == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(
          name, ": number \"", rule.key, "\" is missing (", rule.meaning, ")"));
    }
  }
  RETURN_IF_ERROR(spec.Bind()) << name;
  return spec;
}

absl::Status ChipSpec::Bind() {
  const auto real = [this](absl::string_view key) { return Find(key)->value; };
  const auto whole = [&](absl::string_view key) {
    return static_cast<int>(real(key));
  };
  const auto bytes = [&](absl::string_view key) { return Bytes(real(key)); };
  const auto rate = [&](absl::string_view k) {
    return BytesPerSecond(real(k));
  };
  const auto time = [&](absl::string_view k) { return FromSeconds(real(k)); };
  const auto cycles = [&](absl::string_view key) { return Cycles(real(key)); };

  for (const char* key : {"clock.core",
                          "cores.per_chip",
                          "cores.per_device",
                          "mxu.count",
                          "mxu.rows",
                          "mxu.cols",
                          "hbm.bandwidth",
                          "hbm.efficiency_read",
                          "hbm.efficiency_write",
                          "hbm.core_share",
                          "hbm.temp_slot",
                          "hbm.table_unit",
                          "dma.granule",
                          "dma.on_chip",
                          "ici.efficiency",
                          "vmem.size",
                          "hbm.usable",
                          "slot.bundle",
                          "vreg.lanes",
                          "vreg.sublanes",
                          "host.chips_single",
                          "host.chips_multi"}) {
    if (real(key) <= 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", key, "\" must be positive"));
    }
  }
  if (whole("cores.per_chip") % whole("cores.per_device") != 0) {
    return absl::InvalidArgumentError(
        "\"cores.per_device\" must divide \"cores.per_chip\"");
  }
  // Kernels are written for these.
  if (whole("vreg.lanes") != 128 || whole("vreg.sublanes") != 8) {
    return absl::InvalidArgumentError(
        "\"vreg.lanes\" and \"vreg.sublanes\" must be 128 and 8");
  }
  if (whole("mxu.rows") != whole("mxu.cols") ||
      (whole("mxu.rows") != 128 && whole("mxu.rows") != 256)) {
    return absl::InvalidArgumentError(
        "\"mxu.rows\" and \"mxu.cols\" must be both 128 or both 256");
  }
  // The search for a product's tiles splits it over all arrays.
  if (whole("mxu.count") > 16) {
    return absl::InvalidArgumentError("\"mxu.count\" must be at most 16");
  }
  if (real("hbm.usable") > real("hbm.nominal")) {
    return absl::InvalidArgumentError(
        "\"hbm.usable\" is more than \"hbm.nominal\"");
  }
  // isa/vmem_banks.h has a bit for each row of 512 bytes of a turn.
  if (real("vmem.banks") * real("vmem.bank_interleave") > 64 * 512) {
    return absl::InvalidArgumentError(
        "\"vmem.banks\" of \"vmem.bank_interleave\" bytes are more than 32 "
        "KiB");
  }
  core_.clock = Clock(Hertz(real("clock.core")));
  core_.cores_per_chip = whole("cores.per_chip");
  core_.cores_per_device = whole("cores.per_device");
  core_.cores_in_use = core_.cores_per_device;
  core_.mxus = whole("mxu.count");
  core_.mxu_rows = whole("mxu.rows");
  core_.mxu_cols = whole("mxu.cols");
  core_.mxu_staging_registers = whole("mxu.staging_registers");
  core_.lanes = whole("vreg.lanes");
  core_.sublanes = whole("vreg.sublanes");
  core_.vregs = whole("vreg.count");
  core_.sregs = whole("sreg.count");
  core_.pregs = whole("preg.count");
  core_.mask_regs = whole("mask.count");
  core_.branch_delay_slots = whole("branch.delay_slots");
  core_.program_prologue = cycles("kernel.prologue");
  core_.kernel_entry = cycles("kernel.entry");
  core_.kernel_step = cycles("kernel.step");
  core_.kernel_step_window = cycles("kernel.step_window");
  slots_ = {whole("slot.mxu"),        whole("slot.xlu"),   whole("slot.valu"),
            whole("slot.vpop"),       whole("slot.eup"),   whole("slot.vload"),
            whole("slot.vstore"),     whole("slot.salu"),  whole("slot.misc"),
            whole("slot.load_store"), whole("slot.bundle")};
  vmem_ = {bytes("vmem.size"), bytes("vmem.usable"), bytes("vmem.scoped_limit"),
           whole("vmem.banks"), bytes("vmem.bank_interleave")};
  smem_ = bytes("smem.size");
  cmem_ = bytes("cmem.size");
  hbm_.nominal = bytes("hbm.nominal");
  hbm_.usable = bytes("hbm.usable");
  hbm_.bandwidth = rate("hbm.bandwidth");
  hbm_.efficiency_read = real("hbm.efficiency_read");
  hbm_.efficiency_write = real("hbm.efficiency_write");
  hbm_.turnaround = real("hbm.turnaround");
  hbm_.block_half = bytes("hbm.block_half");
  hbm_.latency = time("hbm.latency");
  hbm_.core_share = real("hbm.core_share");
  dma_ = {bytes("dma.granule"), time("dma.descriptor"), rate("dma.on_chip"),
          time("dma.on_chip_latency")};
  ici_.links = whole("ici.links");
  ici_.link = rate("ici.link");
  ici_.efficiency = real("ici.efficiency");
  ici_.hop = time("ici.hop");
  ici_.collective_startup = time("ici.collective_startup");
  ici_.permute_startup = time("ici.permute_startup");
  host_link_ = {rate("pcie.bandwidth"), rate("dcn.bandwidth"),
                time("dcn.latency"), whole("host.chips_single"),
                whole("host.chips_multi")};
  Fingerprint print;
  print.Add(name_).Add(static_cast<int64_t>(generation_));
  for (const Parameter& p : parameters_) {
    int64_t bits;
    static_assert(sizeof(bits) == sizeof(p.value));
    std::memcpy(&bits, &p.value, sizeof(bits));
    print.Add(p.key).Add(bits);
  }
  print.Add(slices_.ShortDebugString());
  fingerprint_ = print.value();
  return absl::OkStatus();
}

std::string ChipSpec::ToText() const {
  ChipProto proto;
  proto.set_name(name_);
  proto.set_title(title_);
  proto.set_generation(generation_);
  for (const Parameter& p : parameters_) {
    NumberProto* n = proto.add_number();
    n->set_key(p.key);
    n->set_value(p.written);
    n->set_unit(p.unit);
    n->set_source(p.source);
    n->set_confidence(p.confidence);
  }
  *proto.mutable_slices() = slices_;
  for (const PriceProto& price : prices_) *proto.add_price() = price;
  return PrintTextProto(proto);
}

}  // namespace ptxla::chips
