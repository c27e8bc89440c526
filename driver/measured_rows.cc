#include "driver/measured_rows.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "base/status.h"
#include "base/suggest.h"
#include "driver/stage.h"

namespace ptxla::driver {
namespace {

constexpr Timing kTimings[] = {Timing::kDeviceEvent, Timing::kChainSlope,
                               Timing::kCopyWait,    Timing::kHostAsync,
                               Timing::kHostSync,    Timing::kNotRunnable};

class RowReader {
 public:
  RowReader(const std::string& path, const std::vector<std::string>& header)
      : path_(path), folder_(path.substr(0, path.rfind('/') + 1)) {
    for (size_t k = 0; k < header.size(); ++k) {
      column_[header[k]] = static_cast<int>(k);
    }
  }

  absl::Status CheckColumns() const {
    for (const char* needed :
         {"id", "program", "timing", "target", "time_us"}) {
      if (!column_.contains(needed)) {
        return absl::InvalidArgumentError(
            absl::StrCat(path_, ": no column \"", needed, "\""));
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<MeasuredRow> Read(const std::vector<std::string>& cells,
                                   int line) {
    cells_ = &cells;
    MeasuredRow row;
    row.line = line;
    row.id = Cell("id");
    const size_t dash = row.id.rfind('-');
    row.block = row.id.substr(0, dash);
    if (dash != std::string::npos) {
      (void)absl::SimpleAtoi(row.id.substr(dash + 1), &row.number);
    }
    row.chip = Cell("chip");
    row.target = Cell("target");
    row.kernel = Cell("kernel");
    if (const std::string program = Cell("program"); !program.empty()) {
      row.program = program[0] == '/' ? program : folder_ + program;
    }
    const std::string cores = Cell("cores"), time = Cell("time_us");
    if (!cores.empty() && !absl::SimpleAtoi(cores, &row.cores)) {
      return Bad(line, "cores", cores);
    }
    if (double us = 0; !time.empty()) {
      if (!absl::SimpleAtod(time, &us) || !(us > 0)) {
        return Bad(line, "time_us", time);
      }
      row.time_us = us;
    }
    const std::string residency = Cell("residency");
    if (residency == "cmem") {
      row.residency = Residency::kCmem;
    } else if (residency == "vmem") {
      row.residency = Residency::kVmem;
    } else if (residency != "hbm" && !residency.empty()) {
      return Bad(line, "residency", residency);
    }
    const std::string timing = Cell("timing");
    for (const Timing t : kTimings) {
      if (timing != TimingName(t)) continue;
      row.timing = t;
      return row;
    }
    return Bad(line, "timing", timing);
  }

 private:
  std::string Cell(const std::string& column) const {
    const auto it = column_.find(column);
    if (it == column_.end() || it->second >= static_cast<int>(cells_->size())) {
      return "";
    }
    return (*cells_)[it->second];
  }

  absl::Status Bad(int line, const char* column,
                   const std::string& value) const {
    return absl::InvalidArgumentError(
        absl::StrCat(path_, ":", line, ": ", column, " is \"", value, "\""));
  }

  const std::string path_, folder_;
  absl::flat_hash_map<std::string, int> column_;
  const std::vector<std::string>* cells_ = nullptr;
};

}  // namespace

const char* TimingName(Timing timing) {
  switch (timing) {
    case Timing::kDeviceEvent:
      return "device_event";
    case Timing::kChainSlope:
      return "chain_slope";
    case Timing::kCopyWait:
      return "copy_wait";
    case Timing::kHostAsync:
      return "host_async";
    case Timing::kHostSync:
      return "host_sync";
    case Timing::kNotRunnable:
      return "not_runnable";
  }
  return "";
}

absl::StatusOr<std::vector<std::vector<std::string>>> ParseCsv(
    absl::string_view text) {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> row;
  std::string cell;
  bool quoted = false, any = false;
  const auto end_row = [&] {
    row.push_back(std::move(cell));
    cell.clear();
    rows.push_back(std::move(row));
    row.clear();
    any = false;
  };
  for (size_t k = 0; k < text.size(); ++k) {
    const char c = text[k];
    if (quoted) {
      if (c != '"') {
        cell.push_back(c);
      } else if (k + 1 < text.size() && text[k + 1] == '"') {
        cell.push_back('"');
        ++k;
      } else {
        quoted = false;
      }
      continue;
    }
    if (c == '\n') {
      end_row();
    } else if (c == ',') {
      row.push_back(std::move(cell));
      cell.clear();
      any = true;
    } else if (c == '"') {
      quoted = any = true;
    } else if (c != '\r') {
      cell.push_back(c);
      any = true;
    }
  }
  if (quoted) return absl::InvalidArgumentError("a quote is not closed");
  if (any) end_row();
  return rows;
}

absl::StatusOr<std::vector<MeasuredRow>> ReadMeasuredRows(
    const std::string& path) {
  auto text = ReadFile(path);
  if (!text.ok()) return At("input", text.status());
  auto table = ParseCsv(*text);
  if (!table.ok()) return At("parse", AddContext(table.status(), path));
  if (table->empty()) {
    return At("parse", absl::InvalidArgumentError(path + ": is empty"));
  }
  RowReader reader(path, table->front());
  RETURN_IF_ERROR(At("parse", reader.CheckColumns()));
  std::vector<MeasuredRow> rows;
  for (size_t k = 1; k < table->size(); ++k) {
    auto row = reader.Read((*table)[k], static_cast<int>(k) + 1);
    if (!row.ok()) return At("parse", row.status());
    rows.push_back(*std::move(row));
  }
  return rows;
}

}  // namespace ptxla::driver
