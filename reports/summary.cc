#include "reports/summary.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "reports/breakdown.h"
#include "reports/format.h"
#include "reports/op_label.h"

namespace ptxla::reports {
namespace {

using record::RunConfig;
using record::RunRecord;

void Line(std::string* out, absl::string_view key, absl::string_view text) {
  absl::StrAppend(out, "  ", PadRight(key, 11), text, "\n");
}

// "  step time        124.1 ms     band ..."
void Figure(std::string* out, absl::string_view key, absl::string_view figure,
            absl::string_view rest) {
  absl::StrAppend(out, "  ", PadRight(key, 17));
  absl::StrAppend(out,
                  rest.empty() ? std::string(figure) : PadRight(figure, 13),
                  rest, "\n");
}

// The workload, or the file without its folder.
std::string Subject(const RunConfig& c) {
  if (c.hlo_source().empty()) return c.workload();
  if (c.hlo_source() == "-") return "standard input";
  const size_t slash = c.hlo_source().rfind('/');
  return slash == std::string::npos ? c.hlo_source()
                                    : c.hlo_source().substr(slash + 1);
}

// How a workload's fields read in a sentence.
std::string NumericsText(const std::string& dtype) {
  return dtype == "bf16" ? "bf16 compute, fp32 weights" : dtype;
}

std::string OptimizerText(const std::string& optimizer) {
  if (optimizer == "adamw") return "AdamW";
  return optimizer == "sgd" ? "SGD" : optimizer;
}

std::string ParallelText(const std::string& parallel) {
  return absl::StrReplaceAll(parallel, {{"data=", "data parallel "}});
}

void Header(const RunRecord& run, std::string* out) {
  const RunConfig& c = run.config();
  absl::StrAppend(
      out, PadRight(absl::StrCat(Subject(c), " on ", c.topology()), 60), "run ",
      run.run_id(), "  ptxla-sim ", run.tool().version(), "\n");
  std::string model = c.title();
  if (c.has_parameters()) {
    absl::StrAppend(&model, model.empty() ? "" : ", ",
                    WithCommas(c.parameters()), " parameters");
  }
  if (!model.empty()) Line(out, "model", model);
  if (c.has_global_batch()) {
    Line(out, "batch",
         absl::StrCat(WithCommas(c.global_batch()), " global = ",
                      WithCommas(c.batch_per_chip()), " per chip"));
  }
  std::vector<std::string> numerics;
  if (!c.dtype().empty()) numerics.push_back(NumericsText(c.dtype()));
  if (!c.optimizer().empty()) numerics.push_back(OptimizerText(c.optimizer()));
  if (!c.remat().empty()) {
    numerics.push_back(c.remat() == "none" ? "no remat"
                                           : absl::StrCat("remat ", c.remat()));
  }
  std::string line = absl::StrJoin(numerics, ", ");
  if (!c.parallel().empty())
    absl::StrAppend(&line, ";  ", ParallelText(c.parallel()));
  if (!line.empty()) Line(out, "numerics", line);
  Line(out, "slice", c.slice_text());
  Line(out, "setting",
       absl::StrCat(c.mode().empty() ? "" : absl::StrCat(c.mode(), " mode, "),
                    c.compiler().empty()
                        ? ""
                        : absl::StrCat("compiled by ", c.compiler(), "; "),
                    "fidelity ", c.fidelity(),
                    run.steps_size() > 1 ? ", steady state" : ""));
  for (const std::string& assumption : c.assumptions()) {
    // Of HLO they say what was read.
    Line(out, c.hlo_source().empty() ? "assumed" : "input", assumption);
  }
}

// "34.2 %", "0.033 %".
std::string Utilisation(double fraction) {
  return fraction >= 0.01 ? Percent(fraction)
                          : absl::StrCat(Significant(fraction * 100, 2), " %");
}

void Figures(const RunRecord& run, std::string* out) {
  const RunConfig& c = run.config();
  const record::Band& step = run.step_time();
  const Picoseconds value(step.value_ps());
  const double half =
      value.count() == 0
          ? 0
          : static_cast<double>(step.high_ps() - step.value_ps()) /
                static_cast<double>(value.count());
  Figure(out, "step time", Duration(value),
         absl::StrCat("band +-", Percent(half, 0), "   ", step.basis()));
  if (run.has_throughput()) {
    std::string tokens;
    if (c.has_tokens_per_step() && c.sample_unit() != "tokens") {
      tokens =
          absl::StrCat("   (",
                       Significant(static_cast<double>(c.tokens_per_step()) /
                                       ToSeconds(value) / 1e3,
                                   3),
                       " k tokens/s)");
    }
    Figure(out, "throughput",
           absl::StrCat(Rate(run.throughput()), " ", c.sample_unit(), "/s",
                        tokens),
           "");
  }
  // A program without products has no utilisation worth a line.
  if (run.has_hfu() && run.matmul_flops_per_step_per_chip() > 0) {
    const auto tera = [](double flops) { return Significant(flops / 1e12, 3); };
    const bool has_mfu = run.has_mfu();
    const double done =
        static_cast<double>(has_mfu ? run.model_flops_per_step_per_chip()
                                    : run.matmul_flops_per_step_per_chip());
    // HFU's peak is that of the products' types.
    const double possible = has_mfu ? run.peak_flops_per_s() * ToSeconds(value)
                            : run.hfu() > 0 ? done / run.hfu()
                                            : 0;
    // Small programs read better in smaller units.
    const bool giga = possible < 1e12;
    const double scale = giga ? 1e3 : 1;
    Figure(out, has_mfu ? "MFU" : "HFU",
           Utilisation(has_mfu ? run.mfu() : run.hfu()),
           absl::StrCat(
               tera(done * scale), " of ", tera(possible * scale),
               has_mfu ? " model " : " executed matmul ",
               giga ? "GFLOP/step/chip" : "TFLOP/step/chip",
               has_mfu ? absl::StrCat("  HFU ", Utilisation(run.hfu())) : ""));
  }
}

void Memory(const RunRecord& run, std::string* out) {
  if (!run.has_memory()) return;
  const record::MemoryRecord& m = run.memory();
  const double free = 1 - static_cast<double>(m.peak_bytes()) /
                              static_cast<double>(m.usable_bytes());
  Figure(out, "HBM per chip", ByteSize(m.peak_bytes()),
         absl::StrCat(
             "of ", Gibibytes(m.usable_bytes()), " usable (",
             Significant(static_cast<double>(m.nominal_bytes()) / (1 << 30), 2),
             " nominal): ", m.verdict(),
             free >= 0 ? absl::StrCat(", ", Percent(free, 0), " free") : ""));
  if (m.verdict() == "FITS") return;
  for (const record::BufferRecord& b : m.largest()) {
    record::OpRecord op;  // a buffer is called after the op that writes it
    op.set_layer(b.layer());
    op.set_name(b.name());
    const OpLabel label = LabelOf(op);
    absl::StrAppend(out, "    ", PadLeft(ByteSize(b.bytes()), 10), "  ",
                    PadRight(b.kind(), 9), " ", b.name(),
                    label.layer.empty() ? "" : absl::StrCat("  (", label.layer),
                    label.layer.empty() ? ""
                    : label.kind == b.name()
                        ? ")"
                        : absl::StrCat(" ", label.kind, ")"),
                    "\n");
  }
}

void FirstSteps(const RunRecord& run, std::string* out) {
  if (!run.has_first_steps()) return;
  const record::FirstSteps& f = run.first_steps();
  const Picoseconds compile(f.compile().value_ps());
  const TimeScale scale = ScaleFor(compile);
  const auto scaled = [&](int64_t ps) {
    return Significant(static_cast<double>(ps) / scale.picoseconds, 3);
  };
  std::string compiles =
      absl::StrCat(f.compiles(), f.compiles() == 1 ? " compile " : " compiles ",
                   Duration(compile, 3), " [", scaled(f.compile().low_ps()),
                   "..", scaled(f.compile().high_ps()), " ", scale.unit, "]");
  if (f.trace_ps() > 0) {
    absl::StrAppend(&compiles, ", tracing ",
                    Duration(Picoseconds(f.trace_ps()), 2));
  }
  if (f.upload_ps() > 0) {
    absl::StrAppend(&compiles, ", upload ",
                    Duration(Picoseconds(f.upload_ps()), 2));
  }
  absl::StrAppend(&compiles, "; then none");
  Figure(out, "first steps", Duration(Picoseconds(f.total_ps()), 3), compiles);
}

// What does not run costs nothing.
void Cost(const RunRecord& run, std::string* out) {
  if (!run.has_step_time()) return;
  if (!run.has_cost()) {
    Figure(out, "cost", "no price", "");
    return;
  }
  const record::CostRecord& cost = run.cost();
  const record::PriceRecord& p = cost.price();
  std::string line;
  if (cost.usd_per_million_samples() > 0) {
    line = absl::StrCat(Usd(cost.usd_per_million_samples()), " / 1M ",
                        run.config().sample_unit());
    if (cost.usd_once() > 0) {
      absl::StrAppend(&line, " + ", Usd(cost.usd_once()), " once");
    }
    absl::StrAppend(&line, "   ");
  }
  Figure(out, "cost",
         absl::StrCat(line, "(", Usd(p.usd_per_chip_hour()), "/chip-h ",
                      p.kind(), ", ", p.region(), ", ", p.date(), ")"),
         "");
}

void Assumed(const RunRecord& run, std::string* out) {
  if (run.assumed_size() == 0) return;
  std::vector<std::string> names;
  for (const record::AssumedRecord& a : run.assumed()) {
    if (names.size() == 3) {
      names.push_back("...");
      break;
    }
    names.push_back(
        absl::StrCat(a.name(), " ", Significant(a.value(), 3), " ", a.unit()));
  }
  absl::StrAppend(out, "  rests on ", run.assumed_size(), " ASSUMED number",
                  run.assumed_size() == 1 ? "" : "s", ": ",
                  absl::StrJoin(names, ", "));
  if (run.has_assumed_effect()) {
    absl::StrAppend(out, "  (+-20 % each moves the step +-",
                    Percent(run.assumed_effect()), ")");
  }
  absl::StrAppend(out, "\n");
}

}  // namespace

std::string RenderSummary(const RunRecord& run, const SummaryOptions& options) {
  std::string out;
  Header(run, &out);
  if (run.has_step_time()) Figures(run, &out);
  Memory(run, &out);
  FirstSteps(run, &out);
  Cost(run, &out);
  if (run.has_step_time()) out += RenderBreakdown(run);
  Assumed(run, &out);
  for (const std::string& warning : run.warnings()) {
    absl::StrAppend(&out, "  warning: ", warning, "\n");
  }
  if (!options.saved_to.empty()) {
    absl::StrAppend(
        &out, "  saved ", options.saved_to, " in ",
        Significant(run.tool().wall_s(), 2),
        " s      next: --explain OP | --trace FILE | --dump-to DIR | chips ",
        run.config().chip(), "\n");
  }
  return out;
}

}  // namespace ptxla::reports
