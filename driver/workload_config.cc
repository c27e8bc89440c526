#include "driver/workload_config.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/text_proto.h"

namespace ptxla::driver {
namespace {

// What an option says and a setting, too, would be the one or the other.
absl::Status CheckSettings(const RunRequest& request) {
  const char* batch = request.global_batch.has_value()     ? "--global-batch"
                      : request.batch_per_chip.has_value() ? "--batch-per-chip"
                                                           : nullptr;
  const char* seq = request.seq.has_value() ? "--seq" : nullptr;
  for (const std::string& setting : request.settings) {
    const std::string key = setting.substr(0, setting.find('='));
    const bool of_batch = key == "global_batch" || key == "batch_per_chip";
    const char* option = of_batch ? batch : key == "seq" ? seq : nullptr;
    if (option == nullptr) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(option, " and --set ", setting, " exclude each other"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<workloads::WorkloadSpec> ResolveWorkload(
    const RunRequest& request) {
  ASSIGN_OR_RETURN(workloads::WorkloadSpec spec,
                   workloads::FindWorkload(request.workload));
  if (request.global_batch.has_value() && request.batch_per_chip.has_value()) {
    return absl::InvalidArgumentError(
        "--global-batch and --batch-per-chip exclude each other");
  }
  RETURN_IF_ERROR(CheckSettings(request));
  std::vector<std::string> changes;
  const auto number = [&](const char* field, std::optional<int64_t> value) {
    if (value.has_value()) changes.push_back(absl::StrCat(field, "=", *value));
  };
  const auto text = [&](const char* field, const std::string& value) {
    if (!value.empty()) changes.push_back(absl::StrCat(field, "=", value));
  };
  number("global_batch", request.global_batch);
  number("batch_per_chip", request.batch_per_chip);
  number("seq", request.seq);
  text("phase", request.phase);
  text("dtype", request.dtype);
  text("optimizer", request.optimizer);
  changes.insert(changes.end(), request.settings.begin(),
                 request.settings.end());
  for (const std::string& change : changes) {
    RETURN_IF_ERROR(workloads::SetField(change, &spec)) << "--set " << change;
  }
  RETURN_IF_ERROR(workloads::CheckSpec(spec));
  return spec;
}

void DescribeWorkload(const workloads::WorkloadSpec& spec,
                      const workloads::WorkloadFacts& facts,
                      const chips::Slice& slice, record::RunConfig* config) {
  const int devices = slice.topology.num_devices();
  config->set_workload(spec.name());
  config->set_workload_text(PrintTextProto(spec));
  config->set_phase(spec.phase());
  config->set_dtype(spec.dtype());
  config->set_optimizer(spec.phase() == "train" ? spec.optimizer() : "");
  config->set_parallel(absl::StrCat("data=", devices));
  config->set_remat("none");
  config->set_global_batch(facts.samples * devices);
  config->set_batch_per_chip(facts.samples * slice.topology.devices_per_chip());
  config->set_samples_per_step(facts.samples * devices);
  config->set_sample_unit(spec.sample_unit());
  if (facts.tokens > 0) {
    config->set_seq(spec.seq());
    config->set_tokens_per_step(facts.tokens * devices);
  }
  config->set_parameters(facts.parameters);
  config->set_title(facts.tokens > 0
                        ? absl::StrCat(spec.description(), ", seq ", spec.seq())
                        : spec.description());
  for (const std::string& a : spec.assumptions()) config->add_assumptions(a);
}

}  // namespace ptxla::driver
