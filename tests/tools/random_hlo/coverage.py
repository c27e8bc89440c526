"""What the random modules reached: opcodes by element type of their results."""
import collections

from . import types


class Coverage:
    def __init__(self):
        self.counts = collections.Counter()  # (opcode, type)
        self.nested = collections.Counter()
        self.attributes = collections.Counter()

    def add(self, module):
        for opcode, kind, where in module.reached:
            self.counts[opcode, kind] += 1
            if where == "nested":
                self.nested[opcode] += 1
        text = module.text
        for word in ATTRIBUTES:
            if word in text:
                self.attributes[word] += 1

    def update(self, other):
        self.counts.update(other.counts)
        self.nested.update(other.nested)
        self.attributes.update(other.attributes)

    def missing(self):
        """Opcodes, types and attributes that no module had."""
        opcodes = {o for o, _ in self.counts}
        kinds = {k for _, k in self.counts}
        return (sorted(set(OPCODES) - opcodes) + sorted(set(types.ARRAYS + types.ONE_BIT + types.F6) - kinds)
                + [a for a in ATTRIBUTES if not self.attributes[a]])

    def print(self):
        total, kinds = collections.Counter(), collections.defaultdict(list)
        for (opcode, kind), n in sorted(self.counts.items()):
            total[opcode] += n
            kinds[opcode].append(f"{kind} {n}")
        print("opcode                       count nested  by type of the result")
        for opcode in sorted(total):
            print(f"{opcode:28} {total[opcode]:5} {self.nested[opcode]:6}  {', '.join(kinds[opcode])}")
        for word in ATTRIBUTES:
            print(f"modules with {word:45} {self.attributes[word]:5}")


ATTRIBUTES = ["sharding={replicated", "<=[", "T(1,0)", "last_tile_dims=", "last_tile_dim_replicate", "shard_as", "shard_like", "mesh[", "metadata={",
              "stack_frame_id", "FileNames", "frontend_attributes={", "backend_config={", 'backend_config="', "statistics=", "origin=",
              "input_output_alias", "buffer_donor", "entry_computation_layout", "is_scheduled=true", "replica_count", "num_partitions",
              "T(8,128)", "S(1)", "E(4)", "[<=", "operand_precision", "algorithm=", "result_accuracy", "async_execution_thread",
              "execution_thread=", "replica_groups=[", "channel_id", "use_global_device_ids", "source_target_pairs", "is_composite",
              "feature_group_count", "batch_group_count", "rhs_reversal", "lhs_dilate", "operand_batching_dims", "input_batching_dims",
              "true_computation", "branch_computations", "output_to_operand_aliasing", "operand_layout_constraints", "type=TOTALORDER"]
OPCODES = """abs acos acosh add add-dependency after-all all-gather all-gather-done all-gather-start all-reduce all-reduce-done
all-reduce-start all-to-all and asin asinh async-done async-start async-update atan2 atanh batch-norm-grad batch-norm-inference
batch-norm-training bitcast bitcast-convert broadcast call cbrt ceil cholesky clamp count-leading-zeros collective-broadcast
collective-permute collective-permute-done collective-permute-start compare complex concatenate conditional constant convert
convolution copy copy-done copy-start cosine cosh custom-call divide domain dot dynamic-reshape dynamic-slice
dynamic-update-slice erf exponential exponential-minus-one fft floor fusion gather get-dimension-size get-tuple-element imag
infeed iota is-finite log log-plus-one logistic map maximum minimum mulhi multiply negate not opt-barrier or outfeed pad parameter
partition-id popcnt power ragged-all-to-all ragged-dot real recv recv-done reduce reduce-precision reduce-scatter reduce-window
remainder replica-id reshape reverse rng rng-bit-generator rng-get-and-update-state round-nearest-afz round-nearest-even rsqrt
scaled-dot scan scatter select select-and-scatter send send-done set-dimension-size shift-left shift-right-arithmetic
shift-right-logical sign sine sinh slice sort sqrt stochastic-convert subtract tan tanh topk transpose triangular-solve tuple
while xor""".split()
