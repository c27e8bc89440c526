// Errors of validated rows, per block, in figures and as text.
//
//   ValidationSummary s = Summarise(validation, {});
//   s.blocks[0].mean               // 0.05: mean |error| of its rows
//   std::puts(SummaryText(s).c_str());
#ifndef PTXLA_DRIVER_VALIDATION_SUMMARY_H_
#define PTXLA_DRIVER_VALIDATION_SUMMARY_H_

#include <optional>
#include <string>
#include <vector>

#include "driver/validation.h"
#include "driver/validation_floors.h"

namespace ptxla::driver {

struct SummaryOptions {
  // Floors are fitted on the rows of even number and everything is judged on
  // the odd ones. The model has no constants of its own to fit: those of the
  // chip files hold for both halves, and their errors stand side by side.
  bool split_odd = false;
};

struct BlockSummary {
  std::string block, chip, timing;
  int runnable = 0, ran = 0, not_runnable = 0;
  // Of |predicted / measured - 1| over the runnable rows; 1 for what failed.
  double mean = 0, median = 0, p90 = 0;
  // Mean signed error of those that ran: > 0 is too slow.
  double bias = 0;
  Roofline roofline;
  // nullopt: no rows to fit it on.
  std::optional<double> roofline_mean;
  // With split_odd: of the rows of even number, which are not judged.
  std::optional<double> even_mean;
  std::optional<double> napkin_mean;
};

struct ValidationSummary {
  std::vector<BlockSummary> blocks;  // by block, chip and timing
  int runnable = 0, ran = 0;
  double mean = 0;
  bool split_odd = false;
};

ValidationSummary Summarise(const Validation& validation,
                            const SummaryOptions& options);

// Tables with one line per block.
std::string SummaryText(const ValidationSummary& summary);
std::string SummaryMarkdown(const ValidationSummary& summary);
// One line per row, worst last.
std::string RowsText(const Validation& validation);

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_VALIDATION_SUMMARY_H_
