#include "hlo_backend/passes/all_passes.h"

#include "base/suggest.h"
#include "hlo_backend/passes/dynamic/dynamic_padder.h"
#include "hlo_backend/passes/expanders/argmax_expander.h"
#include "hlo_backend/passes/expanders/batch_norm_expander.h"
#include "hlo_backend/passes/expanders/bitcast_convert_expander.h"
#include "hlo_backend/passes/expanders/elementwise_expander.h"
#include "hlo_backend/passes/expanders/fft_expander.h"
#include "hlo_backend/passes/expanders/gather_canonicalizer.h"
#include "hlo_backend/passes/expanders/half_bytes.h"
#include "hlo_backend/passes/expanders/integer_product_expander.h"
#include "hlo_backend/passes/expanders/linear_algebra_expander.h"
#include "hlo_backend/passes/expanders/long_sort_expander.h"
#include "hlo_backend/passes/expanders/one_hot_expander.h"
#include "hlo_backend/passes/expanders/ragged_dot_expander.h"
#include "hlo_backend/passes/expanders/rare_op_expander.h"
#include "hlo_backend/passes/expanders/reduce_expander.h"
#include "hlo_backend/passes/expanders/rng_bit_generator_expander.h"
#include "hlo_backend/passes/expanders/scan_expander.h"
#include "hlo_backend/passes/expanders/sort_expander.h"
#include "hlo_backend/passes/expanders/topk_expander.h"
#include "hlo_backend/passes/expanders/window_canonicalizer.h"
#include "hlo_backend/passes/expanders/window_expander.h"
#include "hlo_backend/passes/expanders/window_loops.h"
#include "hlo_backend/passes/fusion/bounded_gathers.h"
#include "hlo_backend/passes/fusion/fusion.h"
#include "hlo_backend/passes/fusion/movement_fusion.h"
#include "hlo_backend/passes/fusion/product_chaining.h"
#include "hlo_backend/passes/fusion/reduce_rounding.h"
#include "hlo_backend/passes/fusion/row_fusion.h"
#include "hlo_backend/passes/fusion/row_values.h"
#include "hlo_backend/passes/fusion/scatter_fill.h"
#include "hlo_backend/passes/fusion/shift_fusion.h"
#include "hlo_backend/passes/fusion/softmax_fusion.h"
#include "hlo_backend/passes/fusion/staging.h"
#include "hlo_backend/passes/fusion/streamed_prologues.h"
#include "hlo_backend/passes/layout/compact_entry.h"
#include "hlo_backend/passes/layout/convolution_sums.h"
#include "hlo_backend/passes/layout/expand_to_transpose.h"
#include "hlo_backend/passes/layout/free_orders.h"
#include "hlo_backend/passes/layout/lane_batches.h"
#include "hlo_backend/passes/layout/lane_slices.h"
#include "hlo_backend/passes/layout/layout_assignment.h"
#include "hlo_backend/passes/layout/layout_clearing.h"
#include "hlo_backend/passes/layout/minor_planes.h"
#include "hlo_backend/passes/layout/movement_shaper.h"
#include "hlo_backend/passes/layout/reduce_shaper.h"
#include "hlo_backend/passes/layout/reshape_mover.h"
#include "hlo_backend/passes/layout/reshape_order.h"
#include "hlo_backend/passes/layout/reshape_splitter.h"
#include "hlo_backend/passes/layout/squeeze_to_reduce.h"
#include "hlo_backend/passes/layout/transpose_mover.h"
#include "hlo_backend/passes/layout/transpose_splitter.h"
#include "hlo_backend/passes/layout/ungrouping.h"
#include "hlo_backend/passes/loops/counter_narrowing.h"
#include "hlo_backend/passes/loops/loop_operands.h"
#include "hlo_backend/passes/loops/loop_orders.h"
#include "hlo_backend/passes/loops/loop_prefetch.h"
#include "hlo_backend/passes/loops/loop_residency.h"
#include "hlo_backend/passes/loops/loop_results.h"
#include "hlo_backend/passes/loops/loop_simplifier.h"
#include "hlo_backend/passes/loops/loop_transposes.h"
#include "hlo_backend/passes/loops/planes_in_place.h"
#include "hlo_backend/passes/loops/stack_allocation.h"
#include "hlo_backend/passes/loops/unit_columns.h"
#include "hlo_backend/passes/memory/alias_assignment.h"
#include "hlo_backend/passes/memory/copy_insertion.h"
#include "hlo_backend/passes/memory/cross_program_prefetch.h"
#include "hlo_backend/passes/memory/memory_space_assignment.h"
#include "hlo_backend/passes/memory/scheduler.h"
#include "hlo_backend/passes/memory/vmem_prefetch.h"
#include "hlo_backend/passes/products/bf16_propagation.h"
#include "hlo_backend/passes/products/convolution_canonicalizer.h"
#include "hlo_backend/passes/products/convolution_input_fusion.h"
#include "hlo_backend/passes/products/dilated_gradient.h"
#include "hlo_backend/passes/products/dot_canonicalizer.h"
#include "hlo_backend/passes/products/dot_plane_splitter.h"
#include "hlo_backend/passes/products/dot_shaper.h"
#include "hlo_backend/passes/products/dot_strength_reduction.h"
#include "hlo_backend/passes/products/keys_first.h"
#include "hlo_backend/passes/products/pointwise_convolution.h"
#include "hlo_backend/passes/products/pooled_products.h"
#include "hlo_backend/passes/products/precise_convolutions.h"
#include "hlo_backend/passes/products/product_types.h"
#include "hlo_backend/passes/products/slot_planes.h"
#include "hlo_backend/passes/products/space_to_batch.h"
#include "hlo_backend/passes/products/space_to_depth.h"
#include "hlo_backend/passes/products/turned_results.h"
#include "hlo_backend/passes/scheduled/fusion_splitter.h"
#include "hlo_backend/passes/scheduled/tpu_forms.h"
#include "hlo_backend/passes/simplify/algebraic_simplifier.h"
#include "hlo_backend/passes/simplify/annotations.h"
#include "hlo_backend/passes/simplify/call_inliner.h"
#include "hlo_backend/passes/simplify/constant_folding.h"
#include "hlo_backend/passes/simplify/cse.h"
#include "hlo_backend/passes/simplify/dce.h"
#include "hlo_backend/passes/simplify/optimization_barrier_expander.h"
#include "hlo_backend/passes/simplify/trivial_collectives.h"
#include "hlo_backend/passes/simplify/tuple_simplifier.h"
#include "hlo_backend/passes/simplify/zero_sized_hlo_elimination.h"
#include "hlo_backend/passes/x64/tap_products.h"
#include "hlo_backend/passes/x64/x64_elimination.h"
#include "hlo_backend/passes/x64/x64_sum_expander.h"

namespace ptxla::hlo {
namespace {

template <class T>
std::unique_ptr<Pass> Make() {
  return std::make_unique<T>();
}

}  // namespace

std::vector<PassEntry> AllPasses() {
  return {
      {"algebraic-simplifier", "peephole rewrites to a fixed point",
       Make<AlgebraicSimplifierPass>},
      {"alias-assignment", "outputs for donated parameters",
       Make<AliasAssignmentPass>},
      {"annotation-removal", "values instead of what is said about them",
       Make<AnnotationRemovalPass>},
      {"argmax-expander", "reduces of values and positions as two reduces",
       Make<ArgmaxExpanderPass>},
      {"batch-norm-expander", "batch norms as reduces and elementwise work",
       Make<BatchNormExpanderPass>},
      {"bf16-propagation", "what only products read, as their arrays take it",
       Make<Bf16PropagationPass>},
      {"bitcast-convert-expander", "bits of words as words of fewer bits",
       Make<BitcastConvertExpanderPass>},
      {"bounded-gathers", "numbers of rows that need no bounds any more",
       Make<BoundedGathersPass>},
      {"call-inliner", "bodies of call and map take their place",
       Make<CallInlinerPass>},
      {"compact-entry", "parameters and results of convolutional programs",
       Make<CompactEntryPass>},
      {"constant-folding", "values of instructions on constants",
       Make<ConstantFoldingPass>},
      {"convolution-canonicalizer", "convolutions in the form of kernels",
       Make<ConvolutionCanonicalizerPass>},
      {"convolution-input-fusion", "kernels turn the input that they read",
       Make<ConvolutionInputFusionPass>},
      {"convolution-sums",
       "sums of what convolutions make have their dimensions",
       Make<ConvolutionSumsPass>},
      {"copy-insertion", "copies where a value would lie in two places",
       Make<CopyInsertionPass>},
      {"counter-narrowing", "64-bit counters of loops as s32",
       Make<CounterNarrowingPass>},
      {"cross-program-prefetch",
       "the largest operand of products into VMEM from the start",
       Make<CrossProgramPrefetchPass>},
      {"cse", "one of several equal instructions", Make<CsePass>},
      {"dce", "removes what nobody needs", Make<DcePass>},
      {"dilated-gradient", "gradients of transposed convolutions' weights",
       Make<DilatedGradientPass>},
      {"dot-canonicalizer", "dots with the fewest dimensions",
       Make<DotCanonicalizerPass>},
      {"dot-plane-splitter",
       "a small dimension in front of columns as products of their own",
       Make<DotPlaneSplitterPass>},
      {"dot-shaper", "dots with the dimensions that products have",
       Make<DotShaperPass>},
      {"dot-strength-reduction", "products of one row as sums",
       Make<DotStrengthReductionPass>},
      {"dynamic-padder", "sizes known at run time as masks over bounds",
       Make<DynamicPadderPass>},
      {"elementwise-expander", "functions that no vector unit has",
       Make<ElementwiseExpanderPass>},
      {"expand-to-transpose",
       "numbers that move to one lane each go through a transpose unit",
       Make<ExpandToTransposePass>},
      {"fft-expander", "Fourier transforms as products with their matrices",
       Make<FftExpanderPass>},
      {"free-orders", "reduces of made values in the order of an array's",
       Make<FreeOrdersPass>},
      {"fusion", "makes kernels of elementwise work, reduces and dots",
       Make<FusionPass>},
      {"fusion-splitter", "fusions that no kernel can be, as kernels",
       Make<FusionSplitterPass>},
      {"gather-canonicalizer",
       "gathers and scatters of any form as rows of a table by number",
       Make<GatherCanonicalizerPass>},
      {"half-byte-expander", "movements of 4-bit numbers as those of bytes",
       Make<HalfByteExpanderPass>},
      {"half-byte-words", "movements of 4-bit numbers as those of words",
       Make<HalfByteWordsPass>},
      {"integer-product-expander",
       "products of 16 to 64-bit integers from those of bytes",
       Make<IntegerProductExpanderPass>},
      {"keys-first", "scores in the order in which they are written",
       Make<KeysFirstPass>},
      {"lane-batches", "batches in the lanes of few features",
       Make<LaneBatchesPass>},
      {"lane-slices", "parts of what lanes are cut into are slices of lanes",
       Make<LaneSlicesPass>},
      {"layout-assignment", "tiled layouts, copies and bitcasts",
       Make<LayoutAssignmentPass>},
      {"layout-clearing", "forgets layouts inside the module",
       Make<LayoutClearingPass>},
      {"linear-algebra-expander", "factorisations as loops over columns",
       Make<LinearAlgebraExpanderPass>},
      {"long-sort-expander", "sorts beyond VMEM as sorts of their parts",
       Make<LongSortExpanderPass>},
      {"loop-operands", "what a loop only multiplies, rounded before it",
       Make<LoopOperandsPass>},
      {"loop-orders", "stacks in loops have the order that they have outside",
       Make<LoopOrdersPass>},
      {"loop-prefetch", "what loops read several times comes to VMEM",
       Make<LoopPrefetchPass>},
      {"loop-residency", "loop counters in SMEM, loop states in VMEM",
       Make<LoopResidencyPass>},
      {"loop-results", "stacks of which only roundings are read, as bf16",
       Make<LoopResultsPass>},
      {"loop-simplifier", "loops without what nobody needs",
       Make<LoopSimplifierPass>},
      {"loop-transposes", "state lies as every iteration turns it",
       Make<LoopTransposesPass>},
      {"memory-space-assignment", "intermediate values that stay in VMEM",
       Make<MemorySpaceAssignmentPass>},
      {"minor-planes", "few numbers of each point, as planes",
       Make<MinorPlanesPass>},
      {"movement-fusion", "one kernel of reshapes and transposes in a row",
       Make<MovementFusionPass>},
      {"movement-shaper", "movements of any size as those of kernels",
       Make<MovementShaperPass>},
      {"one-hot-expander", "gathers of one element per row as comparisons",
       Make<OneHotExpanderPass>},
      {"optimization-barrier-expander",
       "barriers are gone once the order is settled",
       Make<OptimizationBarrierExpanderPass>},
      {"planes-in-place", "planes of stacks in loops, where they lie",
       Make<PlanesInPlacePass>},
      {"pointwise-convolution", "convolutions of one tap are products",
       Make<PointwiseConvolutionPass>},
      {"pooled-products", "rows that are pooled group by group",
       Make<PooledProductsPass>},
      {"precise-convolutions", "f32 above default precision as parts of bf16",
       Make<PreciseConvolutionsPass>},
      {"product-chaining", "attention whose scores stay inside of a kernel",
       Make<ProductChainingPass>},
      {"product-types", "products of types that no array multiplies",
       Make<ProductTypesPass>},
      {"ragged-dot-expander", "grouped products as calls with kernels",
       Make<RaggedDotExpanderPass>},
      {"rare-op-expander", "what programs seldom have, as plainer work",
       Make<RareOpExpanderPass>},
      {"reduce-expander", "reduces that no kernel has as trees",
       Make<ReduceExpanderPass>},
      {"reduce-rounding", "sums of bf16 that are rounded, as one reduce",
       Make<ReduceRoundingPass>},
      {"reduce-shaper", "reduces of planes that keep one dimension",
       Make<ReduceShaperPass>},
      {"reshape-mover", "gives connected elementwise work one shape",
       Make<ReshapeMoverPass>},
      {"reshape-order", "groups of dimensions between transposes, packed well",
       Make<ReshapeOrderPass>},
      {"reshape-splitter", "reshapes of large planes in steps",
       Make<ReshapeSplitterPass>},
      {"rng-bit-generator-expander",
       "random bits that XLA fixes, as arithmetic",
       Make<RngBitGeneratorExpanderPass>},
      {"row-fusion", "products whose rows are finished in their kernel",
       Make<RowFusionPass>},
      {"row-values", "narrow values of rows behind products, spread as f32",
       Make<RowValuesPass>},
      {"scan-expander", "scans as loops", Make<ScanExpanderPass>},
      {"scatter-fill", "scatters into one value as kernels that fill",
       Make<ScatterFillPass>},
      {"scheduler", "the order of execution, for little memory",
       Make<SchedulerPass>},
      {"shift-fusion", "loops read parts of arrays where they are",
       Make<ShiftFusionPass>},
      {"slot-planes", "columns of experts' slots as members of a batch",
       Make<SlotPlanesPass>},
      {"softmax-fusion", "one kernel of rows that are reduced and read again",
       Make<SoftmaxFusionPass>},
      {"sort-expander", "sorts in the form of their kernels",
       Make<SortExpanderPass>},
      {"space-to-batch", "small batches of images are cut into whole tiles",
       Make<SpaceToBatchPass>},
      {"space-to-depth", "steps of images become features",
       Make<SpaceToDepthPass>},
      {"squeeze-to-reduce", "reshapes that drop the lanes are reduces",
       Make<SqueezeToReducePass>},
      {"stack-allocation", "stacks that a loop fills begin as memory",
       Make<StackAllocationPass>},
      {"staging", "small kernels as stages of one", Make<StagingPass>},
      {"streamed-prologues", "computed weights stream, the others are pushed",
       Make<StreamedProloguesPass>},
      {"tap-products", "convolutions of f64 as a product for each tap",
       Make<TapProductsPass>},
      {"topk-expander", "the k largest as sorts", Make<TopkExpanderPass>},
      {"tpu-forms", "forms of the TPU compiler as the plain ones",
       Make<TpuFormsPass>},
      {"transpose-mover", "one order of dimensions between convolutions",
       Make<TransposeMoverPass>},
      {"transpose-splitter", "steps that kernels know",
       Make<TransposeSplitterPass>},
      {"trivial-collectives", "collectives of one device are their operands",
       Make<TrivialCollectivesPass>},
      {"tuple-simplifier", "takes tuples apart that are put together",
       Make<TupleSimplifierPass>},
      {"turned-results", "columns that lie between rows, member by member",
       Make<TurnedResultsPass>},
      {"ungrouping", "work on groups of a dimension, on the dimension",
       Make<UngroupingPass>},
      {"unit-columns", "arrays of one column that loops carry, as rows",
       Make<UnitColumnsPass>},
      {"vmem-prefetch", "parameters that near kernels read, into VMEM once",
       Make<VmemPrefetchPass>},
      {"window-canonicalizer", "sliding windows over planes, for kernels",
       Make<WindowCanonicalizerPass>},
      {"window-expander", "sliding windows as slices and elementwise work",
       Make<WindowExpanderPass>},
      {"window-loops", "gathers and scatters of windows as loops over them",
       Make<WindowLoopsPass>},
      {"windowed-sort-expander", "sorts whose windows VMEM does not hold",
       Make<WindowedSortExpanderPass>},
      {"x64-elimination", "64-bit types as pairs of 32-bit words",
       Make<X64EliminationPass>},
      {"x64-sum-expander", "sums of 64-bit numbers from those of digits",
       Make<X64SumExpanderPass>},
      {"zero-sized-hlo-elimination", "arrays without elements are gone",
       Make<ZeroSizedHloEliminationPass>},
  };
}

absl::StatusOr<std::unique_ptr<Pass>> MakePass(absl::string_view name) {
  std::vector<std::string> known;
  for (const PassEntry& entry : AllPasses()) {
    if (entry.name == name) return entry.make();
    known.emplace_back(entry.name);
  }
  return UnknownName("pass", name, known);
}

}  // namespace ptxla::hlo
