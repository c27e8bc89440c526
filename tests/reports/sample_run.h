// A RunRecord with every field set, for tests of what reports do with one.
#ifndef PTXLA_TESTS_REPORTS_SAMPLE_RUN_H_
#define PTXLA_TESTS_REPORTS_SAMPLE_RUN_H_

#include <string>

#include "base/check.h"
#include "base/text_proto.h"
#include "record/run_record.pb.h"

namespace ptxla::reports::testing {

inline record::RunRecord SampleRun() {
  record::RunRecord run;
  const absl::Status status = ParseTextProto(
      R"pb(
        run_id: "01JD8QK4ZZZZZZZZZZZZZZZZZZ"
        started_unix_ms: 1732210000000
        config_hash: "00000000000000aa"
        result_hash: "00000000000000bb"
        status { code: "OK" }
        config {
          workload: "bert"
          phase: "train"
          topology: "v5e-8"
          chip: "v5e"
          num_chips: 8
          num_devices: 8
          num_hosts: 1
          global_batch: 256
          batch_per_chip: 32
          seq: 128
          dtype: "bf16"
          optimizer: "adamw"
          parallel: "data=8"
          remat: "none"
          mode: "lazy"
          fidelity: "kernel"
          steps: 3
          chip_text: "name: 'v5e'"
          chip_fingerprint: "00000000000000cc"
          workload_text: "name: 'bert'"
          input_hash: "00000000000000dd"
          samples_per_step: 256
          sample_unit: "samples"
          tokens_per_step: 32768
          title: "BERT-Large pre-training (MLM+NSP), seq 128"
          slice_text: "8 chips, 2x4 mesh without wrap, 1 host"
          parameters: 336226108
          assumptions: "dropout 0.1"
        }
        step_time {
          value_ps: 124100000000
          low_ps: 105485000000
          high_ps: 142715000000
          basis: "EXTRAPOLATED: no v5e-8 row measured"
        }
        time_by_bound {
          mxu_ps: 59000000000
          vpu_ps: 14000000000
          hbm_ps: 41800000000
          ici_ps: 5000000000
          host_ps: 1200000000
          overhead_ps: 3100000000
        }
        bound: "mxu"
        device_time_ps: 122900000000
        trace_time_ps: 90000000000
        throughput: 2062.8525
        mfu: 0.3424
        hfu: 0.3424
        model_flops_per_step_per_chip: 8370411479040
        matmul_flops_per_step_per_chip: 8370411479040
        peak_flops_per_s: 197e12
        memory {
          argument_bytes: 5000000000
          output_bytes: 4000000000
          alias_bytes: 4000000000
          temp_bytes: 4771020000
          code_bytes: 1000
          peak_bytes: 9771021000
          usable_bytes: 16911433728
          nominal_bytes: 17179869184
          verdict: "FITS"
          largest {
            name: "p0"
            layer: "embeddings"
            kind: "argument"
            bytes: 125018112
          }
        }
        compiles {
          graph_hash: "c1"
          name: "SyncTensorsGraph.1"
          hlo_instructions: 26000
          optimized_instructions: 2000
          bundles: 90000
          program: 0
          predicted {
            value_ps: 70000000000000
            low_ps: 50000000000000
            high_ps: 95000000000000
            basis: "fit"
          }
          argument_bytes: 1
          output_bytes: 2
          alias_bytes: 3
          temp_bytes: 4
          code_bytes: 5
          passes {
            name: "dce"
            changed: true
            instructions_before: 26000
            instructions_after: 25000
          }
        }
        programs {
          name: "SyncTensorsGraph.1"
          device_time_ps: 122900000000
          device_cycles: 184350000
          matmul_flops: 8370411479040
          hbm_bytes: 60000000000
          time_by_bound {
            mxu_ps: 59000000000
            vpu_ps: 14000000000
            hbm_ps: 41800000000
            ici_ps: 5000000000
            overhead_ps: 3100000000
          }
          ops {
            name: "multiply_fusion.17"
            opcode: "fusion"
            layer: "encoder.3.ffn/aten__mm"
            count: 144
            time_ps: 40800000000
            bound: "mxu"
            flops: 5000000000000
            bytes: 1000000000
            fraction_of_peak: 0.62
            source: "ffn.py:41"
          }
          ops {
            name: "all-reduce"
            opcode: "all-reduce"
            count: 1
            time_ps: 5000000000
            bound: "ici"
            bytes: 672452216
          }
          collectives {
            kind: "all-reduce"
            count: 1
            bytes: 672452216
            group_size: 8
            time_ps: 5000000000
            exposed_ps: 5000000000
          }
        }
        steady_program: 0
        steps {
          index: 2
          begin_ps: 100
          end_ps: 124100000100
          trace_ps: 90000000000
          sync_ps: 10
          compile_ps: 0
          transfer_ps: 5
          device_begin_ps: 200
          device_end_ps: 122900000200
          cached: true
          graph_hash: "c1"
        }
        first_steps {
          compile {
            value_ps: 142000000000000
            low_ps: 100000000000000
            high_ps: 190000000000000
            basis: "fit"
          }
          compiles: 2
          trace_ps: 1900000000000
          upload_ps: 1100000000000
          total_ps: 145000000000000
        }
        cost {
          usd_per_million_samples: 1.29
          usd_once: 0.387
          price {
            usd_per_chip_hour: 1.2
            region: "us"
            kind: "list"
            date: "2025-11"
            source: "price page"
          }
        }
        assumed { name: "ici.hop" value: 1 unit: "us" effect_ps: 900000000 }
        assumed { name: "host.op" value: 18 unit: "us" }
        assumed_effect: 0.011
        metrics_report: "Counter: MarkStep\n  Value: 3\n"
        tool { version: "0.1.0" wall_s: 0.4 peak_rss_bytes: 300000000 }
        warnings: "a warning"
      )pb",
      "sample run", &run);
  CHECK(status.ok()) << status.message();
  return run;
}

}  // namespace ptxla::reports::testing

#endif  // PTXLA_TESTS_REPORTS_SAMPLE_RUN_H_
