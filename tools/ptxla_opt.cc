// ptxla-opt: any stretch of the chain, and the evaluator, for developers.
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "base/files.h"
#include "base/status.h"
#include "base/suggest.h"
#include "driver/evaluate.h"
#include "driver/prediction.h"
#include "driver/stage.h"
#include "driver/transform.h"
#include "hlo_backend/input/elided_values.h"
#include "tools/command_line.h"
#include "tools/interrupt.h"

namespace ptxla::tools {
namespace {

constexpr char kPtxlaOptExamples[] = R"(
Examples:
  ptxla-opt module.hlo                                   parse, verify, print
  ptxla-opt step.mlir                                    StableHLO to HLO
  ptxla-opt --write=hlo.pb module.hlo -o module.hlo.pb   text to proto
  ptxla-opt --write=stablehlo module.hlo                 HLO to StableHLO
  ptxla-opt --sizes=8,128 polymorphic.mlir               of open dimensions
  ptxla-opt --passes=cse,dce module.hlo                  run passes in order
  ptxla-opt --from=lazy --to=hlo step.lazy               lower a traced graph
  ptxla-opt --to=scheduled --topology=v6e-1 module.hlo   the TPU pipeline
  ptxla-opt --from=hlo --to=tpuasm module.hlo            down to bundles
  ptxla-opt --from=tpuasm --to=trace program.tpuasm      simulate them
  ptxla-opt eval module.hlo --inputs in.npz --out out.npz
)";

constexpr char kEvalExamples[] = R"(
Examples:
  ptxla-opt eval module.hlo                  seeded random inputs
  ptxla-opt eval module.hlo --seed 7 --tpu --out out.npz
)";

absl::StatusOr<hlo::FileFormat> ParseFormat(const std::string& name) {
  if (name == "text") return hlo::FileFormat::kHloText;
  if (name == "stablehlo") return hlo::FileFormat::kStableHloText;
  if (name == "pb") return hlo::FileFormat::kModuleProto;
  if (name == "pbtxt") return hlo::FileFormat::kModuleTextProto;
  if (name == "hlo.pb") return hlo::FileFormat::kHloProto;
  if (name == "hlo.pbtxt") return hlo::FileFormat::kHloTextProto;
  return UnknownName(
      "format", name,
      {"text", "stablehlo", "pb", "pbtxt", "hlo.pb", "hlo.pbtxt"});
}

absl::Status Output(const std::string& path, const std::string& text) {
  if (path.empty() || path == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return absl::OkStatus();
  }
  return WriteFile(path, text);
}

int Eval(const std::vector<std::string>& words) {
  driver::EvaluateOptions options;
  CLI::App app("What an HLO module computes.", "ptxla-opt eval");
  std::string elided = "error";
  app.add_option(
         "file", options.module,
         "HLO text, a proto, StableHLO, a folder of --xla_dump_to, or -")
      ->type_name("FILE");
  app.add_option("--hlo-module", options.hlo_module,
                 "of a folder: part of the name of the module")
      ->type_name("NAME");
  app.add_option("--hlo-stage", options.hlo_stage,
                 "of a folder: before_optimizations, after_optimizations ...")
      ->type_name("STAGE");
  app.add_option("--elided", elided,
                 "values of constant({...}): error, iota or zero")
      ->type_name("WHAT")
      ->capture_default_str();
  app.add_option("--sizes", options.sizes,
                 "of open dimensions (tensor<?x16xf32>) of StableHLO "
                 "arguments, in order")
      ->type_name("N,M")
      ->delimiter(',');
  app.add_option("--inputs", options.inputs, ".npz with arg0, arg1, ...")
      ->type_name("NPZ");
  app.add_option("--seed", options.seed, "of random inputs")
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--tpu", options.tpu, "TPU numerics");
  app.add_option("--out", options.out, ".npz to write: out0, out1, ...")
      ->type_name("NPZ");
  app.footer(kEvalExamples);
  if (const auto code = ParseCommandLine(&app, words)) return *code;
  if (options.module.empty()) {
    return Fail(absl::InvalidArgumentError("eval needs a file, or -"), false,
                "arguments");
  }
  const auto values = hlo::ParseElidedValues(elided);
  if (!values.ok()) return Fail(values.status(), false, "arguments");
  options.elided = *values;
  const auto text = driver::EvaluateFile(options);
  if (!text.ok()) return Fail(text.status(), false, "evaluate");
  std::fputs(text->c_str(), stdout);
  return driver::kExitDone;
}

int Convert(const std::vector<std::string>& words) {
  driver::TransformOptions options;
  std::string from = "hlo", to, path, out, disabled, unknown_ops = "error";
  std::string format = "text", elided = "error";
  CLI::App app("Run a stretch of the chain on one file.", "ptxla-opt");
  app.add_option("file", path, "the input, or - for standard input")
      ->type_name("FILE");
  app.add_option("--from", from, "lazy, hlo, scheduled, tpuasm or trace")
      ->type_name("STAGE")
      ->capture_default_str();
  app.add_option("--to", to, "the same names; default: the stage it is")
      ->type_name("STAGE");
  app.add_option("--passes", options.passes, "passes to run, in this order")
      ->type_name("A,B");
  app.add_option("--disable-passes", disabled, "of the TPU pipeline")
      ->type_name("A,B");
  app.add_option("--topology", options.topology, "the slice to compile for")
      ->type_name("SLICE")
      ->capture_default_str();
  app.add_option("--fidelity", options.fidelity,
                 "of a trace: roofline, kernel, tile or bundle")
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--unknown-ops", unknown_ops, "error or estimate")
      ->check(CLI::IsMember({"error", "estimate"}))
      ->type_name("WHAT")
      ->capture_default_str();
  app.add_option("--trip-count", options.assumed_trip_count,
                 "how often a loop runs whose count depends on data")
      ->type_name("N");
  app.add_option("--write", format,
                 "a module as text, stablehlo, pb, pbtxt (HloModuleProto), "
                 "hlo.pb or hlo.pbtxt (HloProto)")
      ->type_name("FORMAT")
      ->capture_default_str();
  app.add_option("--elided", elided,
                 "values of constant({...}): error keeps them, iota or zero")
      ->type_name("WHAT")
      ->capture_default_str();
  app.add_option("--sizes", options.sizes,
                 "of open dimensions (tensor<?x16xf32>) of StableHLO "
                 "arguments, in order")
      ->type_name("N,M")
      ->delimiter(',');
  app.add_option("-o,--output", out, "a file instead of standard output")
      ->type_name("FILE");
  app.footer(kPtxlaOptExamples);
  if (const auto code = ParseCommandLine(&app, words)) return *code;
  if (path.empty()) {
    return Fail(absl::InvalidArgumentError(
                    "nothing to read: name a file, or - (ptxla-opt --help)"),
                false, "arguments");
  }
  const auto first = driver::ParseStage(from);
  if (!first.ok()) return Fail(first.status(), false, "arguments");
  const auto last = driver::ParseStage(to.empty() ? from : to);
  if (!last.ok()) return Fail(last.status(), false, "arguments");
  options.from = *first;
  options.to = *last;
  const auto written_as = ParseFormat(format);
  if (!written_as.ok()) return Fail(written_as.status(), false, "arguments");
  options.format = *written_as;
  const auto values = hlo::ParseElidedValues(elided);
  if (!values.ok()) return Fail(values.status(), false, "arguments");
  options.elided = *values;
  options.estimate_unknown_ops = unknown_ops == "estimate";
  if (!disabled.empty())
    options.disabled_passes = absl::StrSplit(disabled, ',');
  const auto text = ReadFile(path);
  if (!text.ok()) return Fail(text.status(), false, "input");
  const auto result =
      driver::Transform(*text, path == "-" ? "<stdin>" : path, options);
  if (!result.ok()) return Fail(result.status(), false, "transform");
  const absl::Status written = Output(out, *result);
  return written.ok() ? driver::kExitDone : Fail(written, false, "output");
}

int Main(const std::vector<std::string>& words) {
  InstallInterruptHandler("\nptxla-opt: interrupted; nothing was written\n");
  if (!words.empty() && words[0] == "--version") {
    std::printf("ptxla-opt %s\n", driver::Version());
    return driver::kExitDone;
  }
  if (!words.empty() && words[0] == "eval") {
    return Eval({words.begin() + 1, words.end()});
  }
  return Convert(words);
}

}  // namespace
}  // namespace ptxla::tools

int main(int argc, char** argv) {
  return ptxla::tools::Main({argv + 1, argv + argc});
}
