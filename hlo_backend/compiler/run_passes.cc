#include "base/files.h"
#include "base/status.h"
#include "base/suggest.h"
#include "embed/compiler_pipelines.h"
#include "hlo_backend/compiler/chip_cost_model.h"
#include "hlo_backend/compiler/compiler.h"

namespace ptxla::hlo {
namespace {

absl::StatusOr<Pipeline> LoadPipeline(const std::string& wanted) {
  const std::string name = wanted.empty() ? "tpu" : wanted;
  std::vector<std::string> known;
  for (const auto& file : kPipelineFiles) {
    const absl::string_view path = file.name;
    const absl::string_view stem = path.substr(
        path.rfind('/') + 1, path.rfind(".textproto") - path.rfind('/') - 1);
    if (stem == name) return Pipeline::Parse(file.text, path);
    known.emplace_back(stem);
  }
  if (name.find('/') == std::string::npos &&
      name.find('.') == std::string::npos) {
    return UnknownName("pipeline", name, known);
  }
  ASSIGN_OR_RETURN(const std::string text, ReadFile(name));
  return Pipeline::Parse(text, name);
}

}  // namespace

absl::StatusOr<std::vector<PassReport>> RunPasses(
    Module* module, const chips::ChipSpec& chip,
    const CompileOptions& options) {
  ASSIGN_OR_RETURN(const Pipeline pipeline,
                   LoadPipeline(options.pipeline_name));
  // Somebody has decided already.
  if (module->config().is_scheduled) return std::vector<PassReport>();
  const ChipCostModel cost(chip);
  PassContext context;
  context.chip = &chip;
  context.cost = &cost;
  context.options = options.passes;
  return pipeline.Run(module, context, options.pipeline);
}

}  // namespace ptxla::hlo
