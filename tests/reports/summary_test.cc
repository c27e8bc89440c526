#include "reports/summary.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/reports/sample_run.h"

namespace ptxla::reports {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::SampleRun;

TEST(SummaryTest, LooksAsDocumented) {
  EXPECT_EQ(
      RenderSummary(SampleRun(), {"./ptxla-sim.sqlite"}),
      R"(bert on v5e-8                                               run 01JD8QK4ZZZZZZZZZZZZZZZZZZ  ptxla-sim 0.1.0
  model      BERT-Large pre-training (MLM+NSP), seq 128, 336,226,108 parameters
  batch      256 global = 32 per chip
  numerics   bf16 compute, fp32 weights, AdamW, no remat;  data parallel 8
  slice      8 chips, 2x4 mesh without wrap, 1 host
  setting    lazy mode, fidelity kernel
  assumed    dropout 0.1
  step time        124.1 ms     band +-15 %   EXTRAPOLATED: no v5e-8 row measured
  throughput       2,063 samples/s   (264 k tokens/s)
  MFU              34.2 %       8.37 of 24.4 model TFLOP/step/chip  HFU 34.2 %
  HBM per chip     9.10 GiB     of 15.75 usable (16 nominal): FITS, 42 % free
  first steps      145 s        2 compiles 142 s [100..190 s], tracing 1.9 s, upload 1.1 s; then none
  cost             $1.29 / 1M samples + $0.39 once   ($1.20/chip-h list, us, 2025-11)
  where the step goes       ms    share          hot spots (layer)                                 ms   of peak
  MXU                     59.0   47.5 %          encoder.*.ffn matmul x144                       40.8    62 % F
  HBM                     41.8   33.7 %          all-reduce x1                                    5.0
  VPU                     14.0   11.3 %          F flops
  ICI, exposed             5.0    4.0 %
  overheads                3.1    2.5 %
  host, exposed            1.2    1.0 %
  total                  124.1  100.0 %
  rests on 2 ASSUMED numbers: ici.hop 1.00 us, host.op 18.0 us  (+-20 % each moves the step +-1.1 %)
  warning: a warning
  saved ./ptxla-sim.sqlite in 0.40 s      next: --explain OP | --trace FILE | --dump-to DIR | chips v5e
)");
}

TEST(SummaryTest, ARunThatDoesNotFitListsItsLargestBuffersAndNoTime) {
  record::RunRecord run = SampleRun();
  run.clear_step_time();
  run.mutable_memory()->set_verdict("OOM");
  run.mutable_memory()->set_peak_bytes(20000000000);
  const std::string text = RenderSummary(run, {});
  EXPECT_THAT(text,
              HasSubstr("18.63 GiB    of 15.75 usable (16 nominal): OOM"));
  EXPECT_THAT(text, HasSubstr("119 MiB  argument  p0  (embeddings)"));
  EXPECT_THAT(text, Not(HasSubstr("step time")));
  EXPECT_THAT(text, Not(HasSubstr("free")));
  EXPECT_THAT(text, Not(HasSubstr("cost")));
}

TEST(SummaryTest, WithoutAPriceItSaysSo) {
  record::RunRecord run = SampleRun();
  run.clear_cost();
  EXPECT_THAT(RenderSummary(run, {}), HasSubstr("no price"));
}

}  // namespace
}  // namespace ptxla::reports
