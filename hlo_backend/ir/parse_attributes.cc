// Attributes whose name stands in several structs, or whose value is more than
// a field: how their values are read.
#include "hlo_backend/ir/attribute_handlers.h"
#include "hlo_backend/ir/attribute_names.h"

namespace ptxla::hlo {
namespace {

template <class Attrs, class Read>
bool Try(I& i, Found* found, Read read) {
  auto* a = i.get<Attrs>();
  if (a == nullptr) return false;
  *found = From(read(a));
  return true;
}

Found Dimensions(P& p, I& i) {
  Found found = Found::kNotHere;
  auto one = [&p](int64_t* dimension) {
    const char* at = p.at();
    DimVector list;
    if (!p.IntList(&list)) return false;
    if (list.size() != 1) return p.Fail(at, "expected one dimension");
    *dimension = list[0];
    return true;
  };
  Try<DimensionsAttrs>(i, &found,
                       [&](auto* a) { return p.IntList(&a->dimensions); }) ||
      Try<SortAttrs>(i, &found, [&](auto* a) { return one(&a->dimension); }) ||
      Try<CollectiveAttrs>(i, &found,
                           [&](auto* a) { return one(&a->dimension); }) ||
      Try<ScanAttrs>(i, &found,
                     [&](auto* a) { return p.IntList(&a->dimensions); });
  return found;
}

Found Channel(P& p, I& i) {
  Found found = Found::kNotHere;
  auto read = [&p](auto* a) {
    int64_t id;
    if (!p.Int(&id)) return false;
    // XLA's 0 means "none".
    if (id != 0) a->channel_id = id;
    return true;
  };
  Try<CollectiveAttrs>(i, &found, read) || Try<PermuteAttrs>(i, &found, read) ||
      Try<SendRecvAttrs>(i, &found, read);
  return found;
}

Found WindowOf(P& p, I& i) {
  Found found = Found::kNotHere;
  Try<WindowAttrs>(i, &found,
                   [&](auto* a) { return p.WindowValue(&a->window); }) ||
      Try<ConvAttrs>(i, &found,
                     [&](auto* a) { return p.WindowValue(&a->window); }) ||
      Try<CustomCallAttrs>(i, &found, [&](auto* a) {
        return p.WindowValue(&a->window.emplace());
      });
  return found;
}

Found DimLabels(P& p, I& i) {
  Found found = Found::kNotHere;
  Try<ConvAttrs>(i, &found,
                 [&](auto* a) { return p.ConvDimsValue(&a->dims); }) ||
      Try<CustomCallAttrs>(i, &found, [&](auto* a) {
        return p.ConvDimsValue(&a->conv_dims.emplace());
      });
  return found;
}

template <int64_t ConvAttrs::*conv, int64_t CustomCallAttrs::*custom>
Found GroupCount(P& p, I& i) {
  Found found = Found::kNotHere;
  Try<ConvAttrs>(i, &found, [&](auto* a) { return p.Int(&(a->*conv)); }) ||
      Try<CustomCallAttrs>(i, &found,
                           [&](auto* a) { return p.Int(&(a->*custom)); });
  return found;
}

PrecisionConfig* PrecisionOf(I& i) {
  if (auto* a = i.get<DotAttrs>()) return &a->precision;
  if (auto* a = i.get<RaggedDotAttrs>()) return &a->dot.precision;
  if (auto* a = i.get<ConvAttrs>()) return &a->precision;
  if (auto* a = i.get<CustomCallAttrs>()) return &a->precision;
  return nullptr;
}

Found OperandPrecision(P& p, I& i) {
  PrecisionConfig* precision = PrecisionOf(i);
  return precision ? From(p.PrecisionValue(precision)) : Found::kNotHere;
}

Found Algorithm(P& p, I& i) {
  if (auto* a = i.get<RngBitGeneratorAttrs>()) {
    return From(p.EnumValue(kRngAlgorithms, &a->algorithm));
  }
  PrecisionConfig* precision = PrecisionOf(i);
  return precision ? From(p.EnumValue(kDotAlgorithms, &precision->algorithm))
                   : Found::kNotHere;
}

template <DimVector DotAttrs::*field>
Found DotDims(P& p, I& i) {
  if (auto* a = i.get<DotAttrs>()) return From(p.IntList(&(a->*field)));
  if (auto* a = i.get<RaggedDotAttrs>())
    return From(p.IntList(&(a->dot.*field)));
  return Found::kNotHere;
}

Found IndicesAreSorted(P& p, I& i) {
  Found found = Found::kNotHere;
  auto read = [&p](auto* a) { return p.Bool(&a->indices_are_sorted); };
  Try<GatherAttrs>(i, &found, read) || Try<ScatterAttrs>(i, &found, read);
  return found;
}

Found IndexVectorDim(P& p, I& i) {
  Found found = Found::kNotHere;
  auto read = [&p](auto* a) { return p.Int(&a->index_vector_dim); };
  Try<GatherAttrs>(i, &found, read) || Try<ScatterAttrs>(i, &found, read);
  return found;
}

Found SliceSizes(P& p, I& i) {
  Found found = Found::kNotHere;
  Try<GatherAttrs>(i, &found,
                   [&](auto* a) { return p.IntList(&a->slice_sizes); }) ||
      Try<PermuteAttrs>(i, &found,
                        [&](auto* a) { return p.IntLists(&a->slice_sizes); });
  return found;
}

Found Aliasing(P& p, I& i) {
  Found found = Found::kNotHere;
  auto read = [&p](auto* a) { return p.AliasingValue(&a->aliasing); };
  Try<FusionAttrs>(i, &found, read) || Try<CallAttrs>(i, &found, read) ||
      Try<AsyncAttrs>(i, &found, read) || Try<CustomCallAttrs>(i, &found, read);
  return found;
}

Found Lower(P& p, I& i) {
  Found found = Found::kNotHere;
  auto read = [&p](auto* a) { return p.Bool(&a->lower); };
  Try<TriangularSolveAttrs>(i, &found, read) ||
      Try<CholeskyAttrs>(i, &found, read);
  return found;
}

Found IsStable(P& p, I& i) {
  Found found = Found::kNotHere;
  auto read = [&p](auto* a) { return p.Bool(&a->is_stable); };
  Try<SortAttrs>(i, &found, read) || Try<TopKAttrs>(i, &found, read);
  return found;
}

Found Sparsity(P& p, I& i) {
  Found found = Found::kNotHere;
  auto read = [&p](auto* a) { return p.Raw(&a->sparsity); };
  Try<DotAttrs>(i, &found, read) || Try<ConvAttrs>(i, &found, read);
  return found;
}

Found ResultAccuracy(P& p, I& i) {
  if (auto* a = i.get<ResultAccuracyAttrs>()) {
    return From(p.ResultAccuracyValue(a));
  }
  return Found::kNotHere;
}

Found LayoutConstraints(P& p, I& i) {
  auto* a = i.get<CustomCallAttrs>();
  if (a == nullptr) return Found::kNotHere;
  auto& list = a->operand_layout_constraints.emplace();
  if (!p.Expect('{')) return Found::kError;
  while (!p.Is('}')) {
    list.emplace_back();
    if (!p.ShapeValue(&list.back())) return Found::kError;
    if (!p.Accept(',')) break;
  }
  return From(p.Expect('}'));
}

Found LiteralOf(P& p, I& i) {
  auto* a = i.get<CustomCallAttrs>();
  if (a == nullptr) return Found::kNotHere;
  Shape shape;
  Literal literal;
  if (!p.ShapeValue(&shape) || !p.LiteralValue(shape, &literal)) {
    return Found::kError;
  }
  a->literal = std::make_shared<const Literal>(std::move(literal));
  return Found::kOk;
}

Found Domain(P& p, I& i) {
  auto* a = i.get<DomainAttrs>();
  if (a == nullptr) return Found::kNotHere;
  return From(p.Expect('{') && p.ExpectName("kind") && p.Expect('=') &&
              p.String(&a->kind) && p.Expect(',') && p.ExpectName("entry") &&
              p.Expect('=') && p.ShardingValue(&a->entry) && p.Expect(',') &&
              p.ExpectName("exit") && p.Expect('=') &&
              p.ShardingValue(&a->exit) && p.Expect('}'));
}

Found PrefetchIndex(P& p, I& i) {
  auto* a = i.get<CopyStartAttrs>();
  if (a == nullptr) return Found::kNotHere;
  int64_t index;
  if (!p.Int(&index)) return Found::kError;
  a->cross_program_prefetch_index = index;
  return Found::kOk;
}

Found OldPrefetchFlag(P& p, I& i) {
  auto* a = i.get<CopyStartAttrs>();
  if (a == nullptr) return Found::kNotHere;
  bool flag;
  if (!p.Bool(&flag)) return Found::kError;
  if (flag) a->cross_program_prefetch_index = 0;
  return Found::kOk;
}

Found IsAssociative(P& p, I& i) {
  auto* a = i.get<ScanAttrs>();
  if (a == nullptr) return Found::kNotHere;
  return From(p.Bool(&a->is_associative.emplace()));
}

Found AsyncThread(P& p, I& i) {
  if (auto* a = i.get<AsyncAttrs>())
    return From(p.String(&a->execution_thread));
  if (i.is_async_sugar) return From(p.String(&i.async_thread));
  return Found::kNotHere;
}

Found Epsilon(P& p, I& i) {
  auto* a = i.get<BatchNormAttrs>();
  if (a == nullptr) return Found::kNotHere;
  double epsilon;
  if (!p.Double(&epsilon)) return Found::kError;
  a->epsilon = static_cast<float>(epsilon);
  return Found::kOk;
}

AttributeTable SharedAttributes() {
  return {
      {"dimensions", Dimensions},
      {"channel_id", Channel},
      {"all_reduce_id", Channel},
      {"window", WindowOf},
      {"dim_labels", DimLabels},
      {"feature_group_count",
       GroupCount<&ConvAttrs::feature_group_count,
                  &CustomCallAttrs::feature_group_count>},
      {"batch_group_count", GroupCount<&ConvAttrs::batch_group_count,
                                       &CustomCallAttrs::batch_group_count>},
      {"operand_precision", OperandPrecision},
      {"algorithm", Algorithm},
      {"lhs_batch_dims", DotDims<&DotAttrs::lhs_batch>},
      {"rhs_batch_dims", DotDims<&DotAttrs::rhs_batch>},
      {"lhs_contracting_dims", DotDims<&DotAttrs::lhs_contracting>},
      {"rhs_contracting_dims", DotDims<&DotAttrs::rhs_contracting>},
      {"indices_are_sorted", IndicesAreSorted},
      {"index_vector_dim", IndexVectorDim},
      {"slice_sizes", SliceSizes},
      {"output_to_operand_aliasing", Aliasing},
      {"lower", Lower},
      {"sparsity_config", Sparsity},
      {"result_accuracy", ResultAccuracy},
      {"operand_layout_constraints", LayoutConstraints},
      {"literal", LiteralOf},
      {"domain", Domain},
      {"cross_program_prefetch_index", PrefetchIndex},
      {"is_cross_program_prefetch", OldPrefetchFlag},
      {"is_associative", IsAssociative},
      {"async_execution_thread", AsyncThread},
      {"epsilon", Epsilon},
      {"is_stable", IsStable},
      {"source_target_pairs",
       [](P& p, I& i) -> Found {
         auto* a = i.get<PermuteAttrs>();
         if (a == nullptr) return Found::kNotHere;
         const char* at = p.at();
         std::vector<std::vector<int64_t>> pairs;
         if (!p.IntLists(&pairs)) return Found::kError;
         for (const auto& pair : pairs) {
           if (pair.size() != 2) {
             return From(p.Fail(at, "expected pairs {source,target}"));
           }
           a->source_target_pairs.emplace_back(pair[0], pair[1]);
         }
         return Found::kOk;
       }},
  };
}

const AttributeTable& Handlers() {
  static const AttributeTable& table = *[] {
    auto* all = new AttributeTable(SharedAttributes());
    AddFieldAttributes(all);
    AddCommonAttributes(all);
    return all;
  }();
  return table;
}

}  // namespace

bool ReadAttribute(ModuleParser* parser, absl::string_view name,
                   PendingInstruction* pending, bool* known) {
  auto it = Handlers().find(name);
  Found found = Found::kNotHere;
  if (it != Handlers().end()) found = it->second(*parser, *pending);
  *known = found != Found::kNotHere;
  return found == Found::kOk;
}

}  // namespace ptxla::hlo
