-- The database of ptxla-sim, version 1. Tables may change with the version;
-- the views v_run, v_op, v_compile and v_memory are the stable interface.
-- Times are integer picoseconds, sizes integer bytes; NULL means "does not
-- apply". What many runs share (configuration, chip, program, report text) is
-- stored once under its content hash.

CREATE TABLE schema_version (
  version INTEGER PRIMARY KEY,
  applied_unix_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE config (
  config_hash TEXT PRIMARY KEY,
  workload TEXT NOT NULL,
  hlo_source TEXT NOT NULL,
  input_hash TEXT NOT NULL,
  phase TEXT NOT NULL,
  topology TEXT NOT NULL,
  chip TEXT NOT NULL,
  num_chips INTEGER NOT NULL,
  global_batch INTEGER,
  batch_per_chip INTEGER,
  seq INTEGER,
  dtype TEXT NOT NULL,
  optimizer TEXT NOT NULL,
  parallel TEXT NOT NULL,
  remat TEXT NOT NULL,
  mode TEXT NOT NULL,
  fidelity TEXT NOT NULL,
  chip_fingerprint TEXT NOT NULL REFERENCES chip(chip_fingerprint),
  resolved TEXT NOT NULL             -- RunConfig as a text proto
) STRICT;

CREATE TABLE chip (
  chip_fingerprint TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  text TEXT NOT NULL                 -- every number, unit, source, confidence
) STRICT;

CREATE TABLE metrics_report (
  report_hash TEXT PRIMARY KEY,
  text TEXT NOT NULL
) STRICT;

CREATE TABLE run (
  run_id TEXT PRIMARY KEY,           -- ULID
  started_unix_ms INTEGER NOT NULL,
  tool_version TEXT NOT NULL,
  config_hash TEXT NOT NULL REFERENCES config(config_hash),
  result_hash TEXT NOT NULL,
  status_code TEXT NOT NULL,
  status_message TEXT NOT NULL,
  status_where TEXT NOT NULL,
  step_time_ps INTEGER,
  step_time_low_ps INTEGER,
  step_time_high_ps INTEGER,
  step_time_basis TEXT,
  bound TEXT NOT NULL,
  mxu_ps INTEGER, vpu_ps INTEGER, hbm_ps INTEGER, ici_ps INTEGER,
  dcn_ps INTEGER, host_ps INTEGER, input_ps INTEGER, overhead_ps INTEGER,
  device_time_ps INTEGER,
  trace_time_ps INTEGER,
  throughput_per_s REAL,
  throughput_unit TEXT NOT NULL,
  mfu REAL,
  hfu REAL,
  model_flops_per_step_per_chip INTEGER,
  matmul_flops_per_step_per_chip INTEGER,
  peak_flops_per_s REAL,
  usd_per_million_samples REAL,
  usd_once REAL,
  usd_per_chip_hour REAL,
  price_region TEXT, price_kind TEXT, price_date TEXT, price_source TEXT,
  first_compiles INTEGER,
  first_compile_ps INTEGER, first_compile_low_ps INTEGER,
  first_compile_high_ps INTEGER, first_compile_basis TEXT,
  first_trace_ps INTEGER,
  first_upload_ps INTEGER,
  first_total_ps INTEGER,
  assumed_effect REAL,
  steady_program INTEGER,            -- index of a run_program row
  report_hash TEXT REFERENCES metrics_report(report_hash),
  tool_wall_s REAL NOT NULL,
  tool_peak_rss_bytes INTEGER NOT NULL
) STRICT;

CREATE TABLE run_warning (
  run_id TEXT NOT NULL REFERENCES run(run_id) ON DELETE CASCADE,
  warning_index INTEGER NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (run_id, warning_index)
) STRICT, WITHOUT ROWID;

CREATE TABLE step (
  run_id TEXT NOT NULL REFERENCES run(run_id) ON DELETE CASCADE,
  step_index INTEGER NOT NULL,
  begin_ps INTEGER NOT NULL,
  end_ps INTEGER NOT NULL,
  trace_ps INTEGER NOT NULL,
  sync_ps INTEGER NOT NULL,
  compile_ps INTEGER NOT NULL,
  transfer_ps INTEGER NOT NULL,
  device_begin_ps INTEGER NOT NULL,
  device_end_ps INTEGER NOT NULL,
  cached INTEGER NOT NULL,
  graph_hash TEXT NOT NULL,
  PRIMARY KEY (run_id, step_index)
) STRICT, WITHOUT ROWID;

CREATE TABLE assumed (
  run_id TEXT NOT NULL REFERENCES run(run_id) ON DELETE CASCADE,
  assumed_index INTEGER NOT NULL,
  name TEXT NOT NULL,
  value REAL NOT NULL,
  unit TEXT NOT NULL,
  effect_ps INTEGER,
  PRIMARY KEY (run_id, assumed_index)
) STRICT, WITHOUT ROWID;

CREATE TABLE program (
  program_hash TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  device_time_ps INTEGER NOT NULL,
  device_cycles INTEGER NOT NULL,
  matmul_flops INTEGER NOT NULL,
  hbm_bytes INTEGER NOT NULL,
  mxu_ps INTEGER NOT NULL, vpu_ps INTEGER NOT NULL, hbm_ps INTEGER NOT NULL,
  ici_ps INTEGER NOT NULL, dcn_ps INTEGER NOT NULL,
  overhead_ps INTEGER NOT NULL
) STRICT;

CREATE TABLE op (
  program_hash TEXT NOT NULL REFERENCES program(program_hash),
  op_index INTEGER NOT NULL,         -- longest first
  name TEXT NOT NULL,
  opcode TEXT NOT NULL,
  layer TEXT NOT NULL,
  count INTEGER NOT NULL,
  time_ps INTEGER NOT NULL,
  bound TEXT NOT NULL,
  flops INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  fraction_of_peak REAL,
  estimated INTEGER NOT NULL,
  source TEXT NOT NULL,
  PRIMARY KEY (program_hash, op_index)
) STRICT, WITHOUT ROWID;

CREATE TABLE collective (
  program_hash TEXT NOT NULL REFERENCES program(program_hash),
  collective_index INTEGER NOT NULL,
  kind TEXT NOT NULL,
  count INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  group_size INTEGER NOT NULL,
  time_ps INTEGER NOT NULL,
  exposed_ps INTEGER NOT NULL,
  PRIMARY KEY (program_hash, collective_index)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_program (
  run_id TEXT NOT NULL REFERENCES run(run_id) ON DELETE CASCADE,
  program_index INTEGER NOT NULL,
  program_hash TEXT NOT NULL REFERENCES program(program_hash),
  PRIMARY KEY (run_id, program_index)
) STRICT, WITHOUT ROWID;

CREATE TABLE compilation (
  run_id TEXT NOT NULL REFERENCES run(run_id) ON DELETE CASCADE,
  compile_index INTEGER NOT NULL,
  program_index INTEGER NOT NULL,    -- of run_program
  graph_hash TEXT NOT NULL,
  name TEXT NOT NULL,
  hlo_instructions INTEGER NOT NULL,
  optimized_instructions INTEGER NOT NULL,
  bundles INTEGER NOT NULL,
  predicted_ps INTEGER NOT NULL,     -- of XLA on the TPU VM
  predicted_low_ps INTEGER NOT NULL,
  predicted_high_ps INTEGER NOT NULL,
  predicted_basis TEXT NOT NULL,
  argument_bytes INTEGER NOT NULL,
  output_bytes INTEGER NOT NULL,
  alias_bytes INTEGER NOT NULL,
  temp_bytes INTEGER NOT NULL,
  code_bytes INTEGER NOT NULL,
  PRIMARY KEY (run_id, compile_index)
) STRICT, WITHOUT ROWID;

CREATE TABLE pass (
  run_id TEXT NOT NULL,
  compile_index INTEGER NOT NULL,
  pass_index INTEGER NOT NULL,
  name TEXT NOT NULL,
  changed INTEGER NOT NULL,
  instructions_before INTEGER NOT NULL,
  instructions_after INTEGER NOT NULL,
  PRIMARY KEY (run_id, compile_index, pass_index),
  FOREIGN KEY (run_id, compile_index)
    REFERENCES compilation(run_id, compile_index) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE memory (
  run_id TEXT PRIMARY KEY REFERENCES run(run_id) ON DELETE CASCADE,
  argument_bytes INTEGER NOT NULL,
  output_bytes INTEGER NOT NULL,
  alias_bytes INTEGER NOT NULL,
  temp_bytes INTEGER NOT NULL,
  code_bytes INTEGER NOT NULL,
  peak_bytes INTEGER NOT NULL,
  usable_bytes INTEGER NOT NULL,
  nominal_bytes INTEGER NOT NULL,
  verdict TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE memory_buffer (
  run_id TEXT NOT NULL REFERENCES run(run_id) ON DELETE CASCADE,
  buffer_index INTEGER NOT NULL,     -- largest first
  name TEXT NOT NULL,
  layer TEXT NOT NULL,
  kind TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  PRIMARY KEY (run_id, buffer_index)
) STRICT, WITHOUT ROWID;

CREATE INDEX run_by_config ON run(config_hash, started_unix_ms);

CREATE VIEW v_run AS
  SELECT r.run_id, r.started_unix_ms, r.tool_version, r.config_hash,
         r.result_hash, r.status_code, r.status_message,
         c.workload, c.hlo_source, c.phase, c.topology, c.chip, c.num_chips,
         c.global_batch, c.batch_per_chip, c.seq, c.dtype, c.mode, c.fidelity,
         r.step_time_ps, r.step_time_low_ps, r.step_time_high_ps,
         r.step_time_basis, r.bound, r.mxu_ps, r.vpu_ps, r.hbm_ps, r.ici_ps,
         r.dcn_ps, r.host_ps, r.input_ps, r.overhead_ps, r.device_time_ps,
         r.trace_time_ps, r.throughput_per_s, r.throughput_unit, r.mfu, r.hfu,
         r.usd_per_million_samples
  FROM run r JOIN config c USING (config_hash);

CREATE VIEW v_op AS
  SELECT rp.run_id, rp.program_index, o.op_index, o.name, o.opcode, o.layer,
         o.count, o.time_ps, o.bound, o.flops, o.bytes, o.fraction_of_peak,
         o.estimated, o.source
  FROM run_program rp JOIN op o USING (program_hash);

CREATE VIEW v_compile AS
  SELECT run_id, compile_index, graph_hash, name, hlo_instructions,
         optimized_instructions, bundles, predicted_ps, predicted_low_ps,
         predicted_high_ps
  FROM compilation;

CREATE VIEW v_memory AS
  SELECT run_id, argument_bytes, output_bytes, alias_bytes, temp_bytes,
         code_bytes, peak_bytes, usable_bytes, nominal_bytes, verdict
  FROM memory;
