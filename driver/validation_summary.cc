#include "driver/validation_summary.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "driver/quantile.h"
#include "reports/format.h"

namespace ptxla::driver {
namespace {

double Mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

// "v6e" of "v6e-1", "v4" of "v4:1x1x1".
std::string ChipOf(const std::string& target) {
  return target.substr(0, target.find_first_of(":-"));
}

BlockSummary SummariseBlock(const std::vector<const ValidatedRow*>& rows,
                            const SummaryOptions& options) {
  BlockSummary s;
  std::vector<const ValidatedRow*> fitted, judged;
  std::vector<double> even;
  for (const ValidatedRow* row : rows) {
    if (!row->row.runnable()) {
      ++s.not_runnable;
      continue;
    }
    const bool odd = row->row.number % 2 != 0;
    if (!options.split_odd || !odd) fitted.push_back(row);
    if (options.split_odd && !odd) even.push_back(row->Error());
    if (!options.split_odd || odd) judged.push_back(row);
  }
  std::vector<double> errors, signed_errors, roofline, napkin;
  s.roofline = FitRoofline(fitted);
  for (const ValidatedRow* row : judged) {
    errors.push_back(row->Error());
    const double measured = *row->row.time_us;
    if (row->predicted_us) {
      ++s.ran;
      signed_errors.push_back(*row->predicted_us / measured - 1);
    }
    if (!fitted.empty()) {
      roofline.push_back(std::abs(s.roofline.Time(*row) / measured - 1));
    }
    if (const auto t = Napkin(*row)) {
      napkin.push_back(std::abs(*t / measured - 1));
    }
  }
  s.runnable = static_cast<int>(judged.size());
  std::sort(errors.begin(), errors.end());
  s.mean = Mean(errors);
  s.median = Quantile(errors, 0.5);
  s.p90 = Quantile(errors, 0.9);
  s.bias = Mean(signed_errors);
  if (!roofline.empty()) s.roofline_mean = Mean(roofline);
  if (!even.empty()) s.even_mean = Mean(even);
  if (napkin.size() == judged.size() && !napkin.empty()) {
    s.napkin_mean = Mean(napkin);
  }
  return s;
}

std::string Cell(std::optional<double> fraction) {
  return fraction ? absl::StrFormat("%.1f", *fraction * 100) : "-";
}

}  // namespace

ValidationSummary Summarise(const Validation& validation,
                            const SummaryOptions& options) {
  std::map<std::tuple<std::string, std::string, std::string>,
           std::vector<const ValidatedRow*>>
      groups;
  for (const ValidatedRow& row : validation.rows) {
    groups[{row.row.block, ChipOf(row.row.target),
            row.row.runnable() ? TimingName(row.row.timing) : ""}]
        .push_back(&row);
  }
  ValidationSummary summary;
  summary.split_odd = options.split_odd;
  double sum = 0;
  for (const auto& [key, rows] : groups) {
    BlockSummary s = SummariseBlock(rows, options);
    std::tie(s.block, s.chip, s.timing) = key;
    if (s.runnable == 0) continue;
    summary.runnable += s.runnable;
    summary.ran += s.ran;
    sum += s.mean * s.runnable;
    summary.blocks.push_back(std::move(s));
  }
  summary.mean = summary.runnable == 0 ? 0 : sum / summary.runnable;
  return summary;
}

std::string SummaryText(const ValidationSummary& summary) {
  std::string out = absl::StrFormat(
      "%-8s %-7s %-13s %5s %5s  %7s %7s %7s %7s  %9s %7s%s\n", "block", "chip",
      "timing", "rows", "ran", "mean %", "median", "p90", "bias", "roofline",
      "napkin", summary.split_odd ? "   even %" : "");
  for (const BlockSummary& b : summary.blocks) {
    absl::StrAppendFormat(
        &out, "%-8s %-7s %-13s %5d %5d  %7s %7s %7s %7s  %9s %7s", b.block,
        b.chip, b.timing, b.runnable, b.ran, Cell(b.mean), Cell(b.median),
        Cell(b.p90), absl::StrFormat("%+.1f", b.bias * 100),
        Cell(b.roofline_mean), Cell(b.napkin_mean));
    if (summary.split_odd) {
      absl::StrAppendFormat(&out, "  %7s", Cell(b.even_mean));
    }
    absl::StrAppend(&out, "\n");
  }
  absl::StrAppendFormat(
      &out,
      "%-30s %5d %5d  %7s\n(%% of the measured time; roofline and napkin: mean "
      "error of the floors%s)\n",
      "all", summary.runnable, summary.ran, Cell(summary.mean),
      summary.split_odd
          ? ";\n rows of odd number: the roofline is fitted on the even ones, "
            "the model on neither:\n its constants are those of the chip "
            "files"
          : "");
  return out;
}

std::string SummaryMarkdown(const ValidationSummary& summary) {
  std::string out =
      "| block | chip | timing | rows | ran | mean % | median | p90 | bias | "
      "fitted roofline | napkin "
      "|\n|---|---|---|---|---|---|---|---|---|---|---|"
      "\n";
  for (const BlockSummary& b : summary.blocks) {
    absl::StrAppend(&out, "| ", b.block, " | ", b.chip, " | ", b.timing, " | ",
                    b.runnable, " | ", b.ran, " | ", Cell(b.mean), " | ",
                    Cell(b.median), " | ", Cell(b.p90), " | ",
                    absl::StrFormat("%+.1f", b.bias * 100), " | ",
                    Cell(b.roofline_mean), " | ", Cell(b.napkin_mean), " |\n");
  }
  return out;
}

std::string RowsText(const Validation& validation) {
  std::vector<const ValidatedRow*> rows;
  for (const ValidatedRow& row : validation.rows) {
    if (row.row.runnable()) rows.push_back(&row);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const ValidatedRow* a, const ValidatedRow* b) {
                     return a->Error() < b->Error();
                   });
  std::string out;
  for (const ValidatedRow* row : rows) {
    const std::string program =
        row->row.program.substr(row->row.program.rfind('/') + 1);
    absl::StrAppendFormat(
        &out, "%-12s %-44s measured %10s us  predicted %10s us  %s\n",
        row->row.id, program, reports::Significant(*row->row.time_us, 4),
        row->predicted_us ? reports::Significant(*row->predicted_us, 4) : "-",
        row->predicted_us
            ? absl::StrFormat(
                  "%+.1f %%",
                  (*row->predicted_us / *row->row.time_us - 1) * 100)
            : row->note);
  }
  return out;
}

}  // namespace ptxla::driver
