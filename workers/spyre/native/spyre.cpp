// The emulated Spyre device: host memory presented to torch as its PrivateUse1 backend.
//
// This is the only translation unit. It holds the kernels that cannot go through the CPU fallback and registers every
// part with torch; loading the library is all it takes. No Python is involved, so one build serves every interpreter,
// but the virtual tables of guard, hooks and allocator tie it to one torch minor version.
#include "autocast.h"
#include "host_call.h"
#include "recurrent.h"
#include "runtime.h"

#include <ATen/Dispatch_v2.h>
#include <ATen/EmptyTensor.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/native/TensorFactories.h>
#include <ATen/ops/_lazy_clone_native.h>
#include <torch/headeronly/version.h>
#include <torch/library.h>

static_assert(
    TORCH_VERSION_MAJOR == 2 && (TORCH_VERSION_MINOR == 13 || TORCH_VERSION_MINOR == 14),
    "written against the interfaces of torch 2.13 and 2.14");

namespace spyre {
namespace {

// --- kernels: creation and copies --------------------------------------------------------------------------------

void require_dense(
    std::optional<c10::ScalarType> dtype, std::optional<c10::Layout> layout, std::optional<bool> pin_memory) {
  if (layout.value_or(c10::kStrided) != c10::kStrided) {
    refuse("sparse-layout", c10::str("tensors of layout ", *layout, " cannot live on this device"));
  }
  if (dtype && c10::isQIntType(*dtype)) {
    refuse("quantized", c10::str("tensors of dtype ", *dtype, " cannot live on this device"));
  }
  TORCH_CHECK(!pin_memory.value_or(false), "Only dense CPU tensors can be pinned");
}

c10::DispatchKeySet device_keys() {
  return c10::DispatchKeySet(c10::DispatchKey::PrivateUse1);
}

// With deterministic algorithms torch promises a fixed content, so that reading uninitialised memory shows.
at::Tensor filled_if_deterministic(at::Tensor tensor) {
  const auto& context = at::globalContext();
  if (context.deterministicAlgorithms() && context.deterministicFillUninitializedMemory()) {
    at::native::fill_empty_deterministic_(tensor);
  }
  return tensor;
}

at::Tensor empty(
    c10::IntArrayRef size, std::optional<c10::ScalarType> dtype, std::optional<c10::Layout> layout,
    std::optional<c10::Device> device, std::optional<bool> pin_memory, std::optional<c10::MemoryFormat> format) {
  static const TypedOperator self("aten::empty", "memory_format");
  self.note();
  require_dense(dtype, layout, pin_memory);
  check_creation(size, c10::dtype_or_default(dtype), format);
  const c10::DeviceGuard guard(device_at(device ? device->index() : -1));
  return filled_if_deterministic(at::detail::empty_generic(
      size, DeviceAllocator::instance(), device_keys(), c10::dtype_or_default(dtype), format));
}

at::Tensor empty_strided(
    c10::IntArrayRef size, c10::IntArrayRef stride, std::optional<c10::ScalarType> dtype,
    std::optional<c10::Layout> layout, std::optional<c10::Device> device, std::optional<bool> pin_memory) {
  static const TypedOperator self("aten::empty_strided");
  self.note();
  require_dense(dtype, layout, pin_memory);
  check_creation(size, c10::dtype_or_default(dtype), std::nullopt);
  const c10::DeviceGuard guard(device_at(device ? device->index() : -1));
  return filled_if_deterministic(at::detail::empty_strided_generic(
      size, stride, DeviceAllocator::instance(), device_keys(), c10::dtype_or_default(dtype)));
}

// A gradient that is known to be zero and never gets memory; operators other than views materialise it first.
at::Tensor efficient_zero_tensor(
    c10::IntArrayRef size, std::optional<c10::ScalarType> dtype, std::optional<c10::Layout> layout,
    std::optional<c10::Device> device, std::optional<bool> pin_memory) {
  static const TypedOperator self("aten::_efficientzerotensor");
  self.note();
  require_dense(dtype, layout, pin_memory);
  check_creation(size, c10::dtype_or_default(dtype), std::nullopt);
  at::native::ZeroTensorAllocator nothing(device_at(device ? device->index() : -1));
  return at::detail::empty_generic(
      size, &nothing, device_keys() | c10::DispatchKeySet(c10::DispatchKey::ZeroTensor), c10::dtype_or_default(dtype),
      std::nullopt);
}

const c10::FunctionSchema& schema_of(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").schema();
}

// The one operator whose purpose is to cross devices, so each side has a call, and with it a device, of its own.
at::Tensor copy_from(const at::Tensor& source, const at::Tensor& target, bool) {
  static const TypedOperator self("aten::_copy_from");
  self.note();
  if (source._is_zerotensor()) {
    at::Tensor(target).zero_();
    return target;
  }
  static const auto& schema = schema_of("aten::_copy_from");
  HostCall reading(schema);
  HostCall writing(schema);
  if (source.device() == target.device()) { // the two aliases share no storage, so the kernel cannot see this
    at::assert_no_internal_overlap(target);
    at::assert_no_partial_overlap(target, source);
  }
  target.storage().mutable_data(); // ends a lazy clone; the schema does not say that the target is written
  const auto from = reading.alias(source, schema.arguments()[0]);
  auto to = writing.alias(target, schema.arguments()[1]);
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  to.copy_(from);
  if (rules_apply() && target.device().type() == kDeviceType) {
    store_in_format(to);
  }
  return target;
}

at::Tensor lazy_clone(const at::Tensor& self) {
  static const TypedOperator called("aten::_lazy_clone");
  called.note();
  own_for_sharing(self.storage());
  return at::native::_lazy_clone(self);
}

at::Tensor copy_from_and_resize(const at::Tensor& source, const at::Tensor& target) {
  target.resize_(source.sizes());
  return copy_from(source, target, false);
}

// Behind `.item()`, which programs call in loops: read in place, without a call to the CPU's kernel.
at::Scalar read_scalar(const at::Tensor& tensor) {
  static const TypedOperator self("aten::_local_scalar_dense");
  self.note();
  TORCH_CHECK(tensor.numel() == 1 && tensor.storage().data(), DEVICE_NAME ": only a tensor of one element is a scalar");
  at::Scalar scalar;
  AT_DISPATCH_V2(
      tensor.scalar_type(), "read_scalar", AT_WRAP([&] { scalar = *tensor.const_data_ptr<scalar_t>(); }),
      AT_EXPAND(AT_ALL_TYPES_AND_COMPLEX), AT_EXPAND(AT_BAREBONES_UNSIGNED_TYPES), AT_EXPAND(AT_FLOAT8_TYPES),
      at::kComplexHalf, at::kHalf, at::kBool, at::kBFloat16);
  return scalar;
}

void record_stream(at::Tensor&, c10::Stream) {} // every call has finished when it returns

// --- kernels: through the CPU ------------------------------------------------------------------------------------

void host_fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  run_on_host(op, op, *stack);
}

// torch hands convolutions of an unknown backend to two operators of their own, of the same meaning as the plain ones.
void convolution(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  static const auto plain = c10::Dispatcher::singleton().findSchemaOrThrow("aten::convolution", "");
  run_on_host(op, plain, *stack);
}

void convolution_backward(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  static const auto plain = c10::Dispatcher::singleton().findSchemaOrThrow("aten::convolution_backward", "");
  const auto first = stack->size() - op.schema().arguments().size();
  const auto channels = (*stack)[first].toTensor().size(1);
  stack->insert(stack->begin() + static_cast<std::ptrdiff_t>(first) + 3, c10::IValue(std::vector<int64_t>{channels}));
  run_on_host(op, plain, *stack);
}

// torch has composites that work on every device, and its CPU kernels do the same in one go. Sending such an operator
// over whole saves dispatches, rounds as the CPU does, and lets the report name what the test called.
// A profile that lists operators gets the composites instead: they work on what the device has.
void send_composites_whole() {
  static auto* registered = new torch::Library(
      torch::Library::IMPL, "aten", c10::DispatchKey::PrivateUse1, __FILE__, __LINE__);
  auto& library = *registered; // never destroyed, as it must not be undone while torch ends
  const auto has = [](const c10::OperatorHandle& op, c10::DispatchKey key) { return op.hasKernelForDispatchKey(key); };
  for (const auto& name : c10::Dispatcher::singleton().getAllOpNames()) {
    const auto op = c10::Dispatcher::singleton().findOp(name);
    if (!op || name.getNamespace() != "aten" || has(*op, c10::DispatchKey::PrivateUse1)) {
      continue;
    }
    const bool structured = has(*op, c10::DispatchKey::CompositeExplicitAutogradNonFunctional);
    // A composite that stands for its derivative as well may only go where torch has another derivative.
    const bool composite = has(*op, c10::DispatchKey::CompositeExplicitAutograd) ||
        (has(*op, c10::DispatchKey::CompositeImplicitAutograd) && has(*op, c10::DispatchKey::Autograd));
    if ((composite && has(*op, c10::DispatchKey::CPU)) || (structured && op->hasComputedKernelForDispatchKey(c10::DispatchKey::CPU))) {
      library.impl(c10::toString(name).c_str(), torch::CppFunction::makeFromBoxedFunction<&host_fallback>());
    }
  }
}

// --- the profile -------------------------------------------------------------------------------------------------

void use_profile(const std::vector<std::string>& settings) {
  TORCH_CHECK(OperatorTable::instance().empty(), DEVICE_NAME ": the profile must be set before the first operator");
  for (const auto& setting : settings) {
    mutable_profile().set(setting);
  }
  profile_is_restricted = profile().restricted;
  if (!profile().lists_operators) {
    send_composites_whole();
  }
}

void change_host_work(int64_t by) {
  host_work_depth += static_cast<int>(by);
}

// --- refusals ----------------------------------------------------------------------------------------------------

void refuse_sparse(const c10::OperatorHandle& op, torch::jit::Stack*) {
  refuse("sparse-layout", c10::str(op.operator_name(), " needs a sparse tensor"));
}

void refuse_quantized(const c10::OperatorHandle& op, torch::jit::Stack*) {
  refuse("quantized", c10::str(op.operator_name(), " needs a quantized tensor"));
}

void refuse_nested(const c10::OperatorHandle& op, torch::jit::Stack*) {
  refuse("nested-tensor", c10::str(op.operator_name(), " needs a nested tensor"));
}

at::Generator default_generator_op(int64_t device) {
  return default_generator(static_cast<c10::DeviceIndex>(device));
}

const bool hooks_registered = [] {
  at::RegisterPrivateUse1HooksInterface(new Hooks);
  return true;
}();

} // namespace

C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard)
} // namespace spyre

REGISTER_ALLOCATOR(spyre::kDeviceType, spyre::DeviceAllocator::instance())

using torch::CppFunction;

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", spyre::empty);
  m.impl("empty_strided", spyre::empty_strided);
  m.impl("_efficientzerotensor", spyre::efficient_zero_tensor);
  m.impl("_copy_from", spyre::copy_from);
  m.impl("_lazy_clone", spyre::lazy_clone);
  m.impl("_copy_from_and_resize", spyre::copy_from_and_resize);
  m.impl("_local_scalar_dense", spyre::read_scalar);
  m.impl("record_stream", spyre::record_stream);
  m.impl("convolution_overrideable", CppFunction::makeFromBoxedFunction<&spyre::convolution>());
  m.impl("convolution_backward_overrideable", CppFunction::makeFromBoxedFunction<&spyre::convolution_backward>());
  m.impl("_thnn_fused_lstm_cell", spyre::lstm_cell);
  m.impl("_thnn_fused_lstm_cell_backward_impl", spyre::lstm_cell_backward);
  m.impl("_thnn_fused_gru_cell", spyre::gru_cell);
  m.impl("_thnn_fused_gru_cell_backward", spyre::gru_cell_backward);
  // Their composite versions refuse, or lose precision on, a device type that they do not know; that of embeddings asks
  // for an operator that a device with embeddings need not have.
  for (const char* name : {"mode", "mode.values", "native_layer_norm", "native_batch_norm", "embedding"}) {
    m.impl(name, CppFunction::makeFromBoxedFunction<&spyre::host_fallback>());
  }
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(CppFunction::makeFromBoxedFunction<&spyre::host_fallback>());
}
TORCH_LIBRARY_IMPL(_, SparsePrivateUse1, m) {
  m.fallback(CppFunction::makeFromBoxedFunction<&spyre::refuse_sparse>());
}
TORCH_LIBRARY_IMPL(_, SparseCsrPrivateUse1, m) {
  m.fallback(CppFunction::makeFromBoxedFunction<&spyre::refuse_sparse>());
}
TORCH_LIBRARY_IMPL(_, QuantizedPrivateUse1, m) {
  m.fallback(CppFunction::makeFromBoxedFunction<&spyre::refuse_quantized>());
}
TORCH_LIBRARY_IMPL(_, NestedTensorPrivateUse1, m) {
  m.fallback(CppFunction::makeFromBoxedFunction<&spyre::refuse_nested>());
}
TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, m) {
  m.fallback(CppFunction::makeFallthrough());
}
TORCH_LIBRARY_IMPL(aten, AutocastPrivateUse1, m) {
  using spyre::Precision;
#define SPYRE_LOWER(...) spyre::register_autocast<Precision::kLower>(m, #__VA_ARGS__);
#define SPYRE_SINGLE(...) spyre::register_autocast<Precision::kSingle>(m, #__VA_ARGS__);
#define SPYRE_SINGLE_RESULT(...) spyre::register_autocast<Precision::kSingleResult>(m, #__VA_ARGS__);
#define SPYRE_WIDEST(...) spyre::register_autocast<Precision::kWidest>(m, #__VA_ARGS__);
  AT_FORALL_LOWER_PRECISION_FP(SPYRE_LOWER)
  AT_FORALL_FP32(SPYRE_SINGLE)
  SPYRE_SINGLE(norm, Scalar) // torch's list spells these two as typed signatures
  SPYRE_SINGLE(norm, ScalarOpt_dim)
  AT_FORALL_FP32_SET_OPT_DTYPE(SPYRE_SINGLE_RESULT)
  AT_FORALL_PROMOTE(SPYRE_WIDEST)
}

// The copy itself resolves lazy conjugation and negation; without this, resolving would call the copy for ever.
TORCH_LIBRARY_IMPL(aten, Conjugate, m) {
  m.impl("_copy_from", CppFunction::makeFallthrough());
}
TORCH_LIBRARY_IMPL(aten, Negative, m) {
  m.impl("_copy_from", CppFunction::makeFallthrough());
}

// torch has no Python name for the default generator of this backend, so an operator hands it out. It is always there;
// the question mark is how torch's schemas spell the C++ type.
TORCH_LIBRARY(spyre, m) {
  m.def("default_generator(int device) -> Generator?", spyre::default_generator_op);
  m.def("use_profile(str[] settings) -> ()", spyre::use_profile);
  m.def("change_host_work(int by) -> ()", spyre::change_host_work);
  m.def("take_kernels() -> (str[], int[])", [] { return spyre::OperatorTable::instance().take_footprints(); });
  m.def("take_operators() -> str[]", [] { return spyre::OperatorTable::instance().take(); });
}
