#include "reports/timeline.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace ptxla::reports {
namespace {

using record::DeviceTrace;
using record::OpTrace;
using record::TransferTrace;

// Process and thread ids of the tracks.
constexpr int kHost = 1, kDevice = 2, kUnits = 3, kMemory = 4;

std::string Quoted(absl::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      absl::StrAppendFormat(&out, "\\u%04x", static_cast<int>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

class Writer {
 public:
  Writer() : out_("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[") {}

  void NameTrack(int process, int thread, absl::string_view process_name,
                 absl::string_view thread_name) {
    Begin();
    absl::StrAppend(
        &out_, "{\"ph\":\"M\",\"pid\":", process, ",\"tid\":", thread,
        ",\"name\":\"process_name\",\"args\":{\"name\":", Quoted(process_name),
        "}}");
    Begin();
    absl::StrAppend(
        &out_, "{\"ph\":\"M\",\"pid\":", process, ",\"tid\":", thread,
        ",\"name\":\"thread_name\",\"args\":{\"name\":", Quoted(thread_name),
        "}}");
  }

  // `args` is the inside of a JSON object.
  void Span(int process, int thread, absl::string_view name, int64_t begin_ps,
            int64_t end_ps, absl::string_view args = "") {
    Begin();
    // Microseconds with all six digits that picoseconds give.
    absl::StrAppendFormat(
        &out_,
        "{\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"name\":%s,\"ts\":%d.%06d,"
        "\"dur\":%d.%06d,\"args\":{%s}}",
        process, thread, Quoted(name), begin_ps / 1000000, begin_ps % 1000000,
        (end_ps - begin_ps) / 1000000, (end_ps - begin_ps) % 1000000, args);
  }

  std::string Finish() && { return std::move(out_) + "\n]}\n"; }

 private:
  void Begin() {
    out_ += first_ ? "\n" : ",\n";
    first_ = false;
  }
  std::string out_;
  bool first_ = true;
};

std::string OpArgs(const OpTrace& op) {
  std::string args = absl::StrCat(
      "\"opcode\":", Quoted(op.opcode()), ",\"layer\":", Quoted(op.layer()),
      ",\"cycles\":", op.cycles(), ",\"flops\":", op.flops(),
      ",\"bytes\":", op.bytes(), ",\"grid_steps\":", op.grid_steps());
  if (op.repeat() > 1) absl::StrAppend(&args, ",\"repeat\":", op.repeat());
  if (op.estimated()) absl::StrAppend(&args, ",\"estimated\":true");
  if (!op.source().empty()) {
    absl::StrAppend(&args, ",\"source\":", Quoted(op.source()));
  }
  return args;
}

// How long each unit was busy inside an op, drawn from the op's start: where
// inside the op the busy cycles lie is not kept.
void WriteUnits(const OpTrace& op, int64_t begin, double ps_per_cycle,
                Writer* w) {
  const record::UnitCycles& busy = op.busy();
  const std::pair<int, int64_t> units[] = {{0, busy.mxu()},  {1, busy.valu()},
                                           {2, busy.eup()},  {3, busy.xlu()},
                                           {4, busy.load()}, {5, busy.store()}};
  for (const auto& [unit, cycles] : units) {
    if (cycles <= 0) continue;
    const auto length =
        static_cast<int64_t>(static_cast<double>(cycles) * ps_per_cycle);
    w->Span(kUnits, op.core() * 8 + unit, op.name(), begin,
            std::min(begin + length, begin + op.end_ps() - op.start_ps()));
  }
}

void WriteDevice(const DeviceSpan& span, Writer* w) {
  const DeviceTrace& trace = *span.trace;
  const double ps_per_cycle =
      trace.clock_hz() > 0 ? 1e12 / trace.clock_hz() : 0;
  for (const OpTrace& op : trace.op()) {
    const int64_t begin = span.begin_ps + op.start_ps();
    for (int core = 0; core < std::max(1, op.cores()); ++core) {
      w->Span(kDevice, op.core() + core, op.name(), begin,
              span.begin_ps + op.end_ps(), OpArgs(op));
    }
    WriteUnits(op, begin, ps_per_cycle, w);
  }
  for (const TransferTrace& t : trace.transfer()) {
    w->Span(kMemory, t.resource(), t.name(), span.begin_ps + t.start_ps(),
            span.begin_ps + t.end_ps(),
            absl::StrCat("\"bytes\":", t.bytes(),
                         ",\"exposed_ps\":", t.exposed_ps()));
  }
  for (const record::CollectiveTrace& c : trace.collective()) {
    w->Span(kMemory, TransferTrace::ICI, c.name(), span.begin_ps + c.start_ps(),
            span.begin_ps + c.end_ps(),
            absl::StrCat("\"kind\":", Quoted(c.kind()), ",\"bytes\":",
                         c.bytes(), ",\"group\":", c.group_size(),
                         ",\"algorithm\":", Quoted(c.algorithm())));
  }
}

}  // namespace

std::string RenderTimeline(const record::RunRecord& run,
                           const std::vector<HostSpan>& host,
                           const std::vector<DeviceSpan>& device) {
  Writer w;
  const char* tracks[] = {"tracing thread", "dispatch thread", "device queue"};
  for (int i = 0; i < 3; ++i) w.NameTrack(kHost, i, "host", tracks[i]);
  int cores = 1;
  for (const DeviceSpan& span : device) {
    for (const OpTrace& op : span.trace->op()) {
      cores = std::max(cores, op.core() + std::max(1, op.cores()));
    }
  }
  const char* units[] = {"MXU", "VALU", "EUP", "XLU", "load", "store"};
  const std::string chip = absl::StrCat("device 0 (", run.config().chip(), ")");
  for (int core = 0; core < cores; ++core) {
    w.NameTrack(kDevice, core, chip, absl::StrCat("core ", core));
    for (int unit = 0; unit < 6; ++unit) {
      w.NameTrack(kUnits, core * 8 + unit, "units busy",
                  absl::StrCat("core ", core, " ", units[unit]));
    }
  }
  const char* memory[] = {"HBM DMA", "ICI", "DCN", "host link", "on-chip DMA"};
  for (int i = 0; i < 5; ++i) {
    w.NameTrack(kMemory, i, "memory and links", memory[i]);
  }
  for (const HostSpan& span : host) {
    w.Span(kHost, static_cast<int>(span.track), span.name, span.begin_ps,
           span.end_ps);
  }
  for (const DeviceSpan& span : device) WriteDevice(span, &w);
  return std::move(w).Finish();
}

}  // namespace ptxla::reports
