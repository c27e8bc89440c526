#include <array>
#include <iterator>

#include "absl/base/call_once.h"
#include "base/files.h"
#include "base/status.h"
#include "base/suggest.h"
#include "base/text_proto.h"
#include "embed/compiler_pipelines.h"
#include "hlo_backend/compiler/chip_cost_model.h"
#include "hlo_backend/compiler/compiler.h"
#include "hlo_backend/compiler/lower_module.h"
#include "hlo_backend/passes/scheduled/unschedule.h"

namespace ptxla::hlo {
namespace {

// The text of an embedded pipeline, read once: every module is compiled with
// one or two of them.
absl::StatusOr<Pipeline> EmbeddedPipeline(size_t n) {
  struct Read {
    absl::once_flag once;
    PipelineProto proto;
    absl::Status status;
  };
  static auto& files = *new std::array<Read, std::size(kPipelineFiles)>;
  Read& file = files[n];
  absl::call_once(file.once, [&] {
    file.status = ParseTextProto(kPipelineFiles[n].text, kPipelineFiles[n].name,
                                 &file.proto);
  });
  RETURN_IF_ERROR(file.status);
  return Pipeline::Create(file.proto);
}

}  // namespace

absl::StatusOr<Pipeline> LoadPipeline(const std::string& name) {
  std::vector<std::string> known;
  for (size_t n = 0; n < std::size(kPipelineFiles); ++n) {
    const absl::string_view path = kPipelineFiles[n].name;
    const absl::string_view stem = path.substr(
        path.rfind('/') + 1, path.rfind(".textproto") - path.rfind('/') - 1);
    if (stem == name) return EmbeddedPipeline(n);
    known.emplace_back(stem);
  }
  if (name.find('/') == std::string::npos &&
      name.find('.') == std::string::npos) {
    return UnknownName("pipeline", name, known);
  }
  ASSIGN_OR_RETURN(const std::string text, ReadFile(name));
  return Pipeline::Parse(text, name);
}

absl::StatusOr<std::vector<PassReport>> RunPasses(
    Module* module, const chips::ChipSpec& chip,
    const CompileOptions& options) {
  // Decided by a TPU's compiler: its decisions stay. Those of a compiler for
  // another machine mean nothing here.
  const bool is_scheduled = module->config().is_scheduled;
  if (is_scheduled && !HasTiledLayouts(*module)) Unschedule(module);
  const bool taken = module->config().is_scheduled;
  ASSIGN_OR_RETURN(
      const Pipeline pipeline,
      LoadPipeline(taken                           ? "scheduled"
                   : options.pipeline_name.empty() ? "tpu"
                                                   : options.pipeline_name));
  const ChipCostModel cost(chip);
  PassContext context;
  context.chip = &chip;
  context.cost = &cost;
  context.options = options.passes;
  return pipeline.Run(module, context, options.pipeline);
}

}  // namespace ptxla::hlo
