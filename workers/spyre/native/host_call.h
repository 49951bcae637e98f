// One operator call, run by the CPU kernel on the device's own memory.
//
// Each device tensor gets a CPU *alias*: a tensor with the same key set, sizes and strides whose storage points at the
// same bytes and keeps the device storage alive. The kernel works on aliases; its results are turned round the same
// way. Nothing is copied. A result that shares an argument's storage maps back to that very storage, so views stay
// views; an output that the kernel resized is re-pointed afterwards, so `out=` and in-place need no special case.
//
// A device must also *refuse*: an alias would hide that a tensor lives elsewhere, so every tensor argument is checked
// before the kernel runs.
#pragma once

#include "formats.h"
#include "memory.h"
#include "policy.h"
#include "random.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/DeviceGuard.h>

#include <string_view>

namespace spyre {

// Arguments that real devices take from the host as well.
constexpr std::pair<std::string_view, std::string_view> kHostArguments[] = {
    {"aten::index", "indices"},
    {"aten::_unsafe_index", "indices"},
    {"aten::index_put", "indices"},
    {"aten::index_put_", "indices"},
    {"aten::_unsafe_index_put", "indices"},
    {"aten::_index_put_impl_", "indices"},
    {"aten::_foreach_copy_", "self"}, // a list of copies, and copies cross devices
    {"aten::_foreach_copy_", "src"},
};

inline bool may_live_on_host(const std::string& op, const std::string& argument) {
  return std::any_of(std::begin(kHostArguments), std::end(kHostArguments), [&](const auto& entry) {
    return entry.first == op && entry.second == argument;
  });
}

// Where a tensor lives, as far as its keys tell: the backend, and whose mixed precision applies.
struct Home {
  c10::BackendComponent backend;
  c10::DispatchKeySet autocast;
};
constexpr Home kHost{c10::BackendComponent::CPUBit, c10::DispatchKeySet(c10::DispatchKey::AutocastCPU)};
constexpr Home kDevice{
    c10::BackendComponent::PrivateUse1Bit, c10::DispatchKeySet(c10::DispatchKey::AutocastPrivateUse1)};

inline c10::DispatchKeySet moved(c10::DispatchKeySet keys, const Home& from, const Home& to) {
  return (keys.remove_backend(from.backend) - from.autocast) | c10::DispatchKeySet(to.backend) | to.autocast;
}

class HostCall {
 public:
  explicit HostCall(const c10::FunctionSchema& schema) : schema_(schema) {}

  // --- on the way in -------------------------------------------------------------------------------------------------

  void use_device(c10::Device device) {
    if (!device_) {
      device_ = device_at(device.index());
    }
  }

  c10::DeviceIndex device_index() const { return device_ ? device_->index() : current_device_of_thread; }

  at::Tensor alias(const at::Tensor& tensor, const c10::Argument& argument) {
    if (!tensor.defined()) {
      return tensor;
    }
    const bool written = argument.alias_info() && argument.alias_info()->isWrite();
    if (tensor.device().type() != kDeviceType) {
      note_foreign(tensor.device(), argument, !written && tensor.dim() == 0);
      return tensor;
    }
    note_ours(tensor.device(), argument);
    for (auto& known : tensors_) {
      if (known.ours.is_same(tensor)) {
        if (written && !known.written) {
          known.written = true;
          alias(tensor.storage(), true);
        }
        return known.host;
      }
    }
    require_memory(tensor);
    auto host = like(tensor, alias(tensor.storage(), written), kDevice, kHost);
    if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) { // weighs less in type promotion
      host.unsafeGetTensorImpl()->set_wrapped_number(true);
    }
    return tensors_.emplace_back(AliasedTensor{tensor, std::move(host), written}).host;
  }

  c10::Storage alias(const c10::Storage& ours, const c10::Argument& argument) {
    if (ours.device_type() != kDeviceType) {
      note_foreign(ours.device(), argument, false);
      return ours;
    }
    note_ours(ours.device(), argument);
    return alias(ours, true); // an operator that takes a storage makes a tensor of it, to be written as well
  }

  // Raises when an argument lives elsewhere. To be called once all arguments are known.
  void require_one_device() const {
    if (device_ && foreign_) {
      TORCH_CHECK(
          false, "Expected all tensors to be on the same device, but found at least two devices, ", *device_, " and ",
          foreign_->first, "! (when checking argument ", foreign_->second->name(), " in method ", schema_.name(), ")");
    }
  }

  // --- on the way out ------------------------------------------------------------------------------------------------

  // What the kernel's arguments take up on the device.
  FootprintOfCall footprint() const {
    FootprintOfCall sum;
    for (const auto& known : tensors_) {
      sum.add(known.ours);
    }
    return sum;
  }

  // Brings what the kernel wrote to the device's formats.
  void store_written() const {
    for (const auto& known : tensors_) {
      if (known.written) {
        store_in_format(known.host);
      }
    }
  }

  // A kernel may have resized or re-pointed what it wrote to.
  void write_back() {
    for (size_t i = 0; i < storages_.size(); ++i) {
      write_back(storages_[i].ours, storages_[i].host);
    }
    for (size_t i = 0; i < tensors_.size(); ++i) {
      if (tensors_[i].written) {
        write_back(tensors_[i].ours, tensors_[i].host);
      }
    }
  }

  at::Tensor result(const at::Tensor& host) {
    if (!host.defined() || !host.device().is_cpu()) {
      return host;
    }
    for (auto& known : tensors_) {
      if (known.host.is_same(host)) {
        return known.ours;
      }
    }
    require_plain(host);
    if (rules_apply()) {
      check_result(host);
      if (!shares_memory(host)) {
        store_in_format(host);
      }
    }
    return like(host, ours(host.storage()), kHost, kDevice);
  }

 private:
  struct AliasedTensor {
    at::Tensor ours;
    at::Tensor host;
    bool written;
  };
  struct AliasedStorage {
    c10::Storage ours;
    c10::Storage host;
  };

  bool shares_memory(const at::Tensor& host) const {
    return std::any_of(storages_.begin(), storages_.end(), [&](const AliasedStorage& known) {
      return known.host.unsafeGetStorageImpl() == host.storage().unsafeGetStorageImpl();
    });
  }

  void note_ours(c10::Device device, const c10::Argument& argument) {
    if (!device_) {
      device_ = device;
    } else if (*device_ != device) {
      foreign_ = {device, &argument};
    }
  }

  void note_foreign(c10::Device device, const c10::Argument& argument, bool host_scalar) {
    if (!host_scalar && !foreign_ && !may_live_on_host(schema_.name(), argument.name())) {
      foreign_ = {device, &argument};
    }
  }

  // Lazy zero tensors have no memory. Views of them are fine; anything else would read address zero.
  void require_memory(const at::Tensor& tensor) const {
    if (tensor.numel() == 0 || tensor.storage().data() != nullptr) {
      return;
    }
    const auto& returns = schema_.returns();
    const bool view = !returns.empty() && returns[0].alias_info() && !returns[0].alias_info()->isWrite();
    TORCH_CHECK(
        view && tensor._is_zerotensor(), DEVICE_NAME ": ", schema_.name(), " got a tensor of shape ", tensor.sizes(),
        " that has no memory");
  }

  void require_plain(const at::Tensor& host) const {
    if (host.is_quantized()) {
      refuse("quantized", c10::str(schema_.name(), " gives a quantized tensor"));
    }
    if (host.is_nested()) {
      refuse("nested-tensor", c10::str(schema_.name(), " gives a nested tensor"));
    }
    if (host.layout() != c10::kStrided) {
      refuse("sparse-layout", c10::str(schema_.name(), " gives a tensor of layout ", host.layout()));
    }
  }

  // Same keys but for its home, same geometry, other storage. The conjugate and negative bits are keys.
  static at::Tensor like(const at::Tensor& model, c10::Storage storage, const Home& from, const Home& to) {
    auto twin = at::detail::make_tensor<c10::TensorImpl>(
        c10::TensorImpl::VIEW, std::move(storage), moved(model.key_set(), from, to), model.dtype());
    twin.unsafeGetTensorImpl()->set_sizes_and_strides(model.sizes(), model.strides(), model.storage_offset());
    return twin;
  }

  // A lazy clone shares its memory until somebody writes. Reading must not end that, writing must, before the kernel.
  c10::Storage alias(const c10::Storage& ours, bool written) {
    void* bytes = written ? ours.mutable_data() : const_cast<void*>(ours.data());
    for (auto& known : storages_) {
      if (known.ours.unsafeGetStorageImpl() == ours.unsafeGetStorageImpl()) {
        if (known.host.data() != bytes) {
          known.host.unsafeGetStorageImpl()->set_data_ptr_noswap(lent(ours, bytes));
        }
        return known.host;
      }
    }
    c10::Storage host(
        c10::Storage::use_byte_size_t(), ours.nbytes(), lent(ours, bytes), c10::GetCPUAllocator(), ours.resizable());
    return storages_.emplace_back(AliasedStorage{ours, std::move(host)}).host;
  }

  // The host's view of device memory, which keeps the device's storage alive.
  static c10::DataPtr lent(const c10::Storage& ours, void* bytes) {
    auto release = [](void* held) { delete static_cast<c10::Storage*>(held); };
    return {bytes, new c10::Storage(ours), release, c10::Device(c10::kCPU)};
  }

  c10::Storage ours(const c10::Storage& host) {
    for (auto& known : storages_) {
      if (known.host.unsafeGetStorageImpl() == host.unsafeGetStorageImpl()) {
        return known.ours;
      }
    }
    c10::Storage adopted(
        c10::Storage::use_byte_size_t(), host.nbytes(), adopted_memory(device_index(), host),
        DeviceAllocator::instance(), true);
    return storages_.emplace_back(AliasedStorage{std::move(adopted), host}).ours;
  }

  void write_back(const c10::Storage& ours, const c10::Storage& host) {
    auto* impl = ours.unsafeGetStorageImpl();
    if (ours.data() != host.data()) {
      impl->set_data_ptr_noswap(adopted_memory(ours.device().index(), host));
    }
    if (ours.nbytes() != host.nbytes()) {
      impl->set_nbytes(host.nbytes());
    }
  }

  void write_back(const at::Tensor& tensor, const at::Tensor& host) {
    auto* impl = tensor.unsafeGetTensorImpl();
    auto storage = ours(host.storage());
    if (storage.unsafeGetStorageImpl() != tensor.storage().unsafeGetStorageImpl()) {
      impl->set_storage_keep_dtype(std::move(storage));
    }
    if (tensor.sizes() != host.sizes() || tensor.strides() != host.strides() ||
        tensor.storage_offset() != host.storage_offset()) {
      impl->set_sizes_and_strides(host.sizes(), host.strides(), host.storage_offset());
    }
  }

  const c10::FunctionSchema& schema_;
  std::optional<c10::Device> device_;
  std::optional<std::pair<c10::Device, const c10::Argument*>> foreign_;
  c10::SmallVector<AliasedTensor, 6> tensors_;
  c10::SmallVector<AliasedStorage, 6> storages_;
};

// Applies `convert` to every tensor inside a value: plain, list, or list with gaps. Other values stay as they are.
template <typename Convert>
c10::IValue convert_tensors(const c10::IValue& value, Convert convert) {
  if (value.isTensor()) {
    return convert(value.toTensor());
  }
  if (value.isTensorList()) {
    c10::List<at::Tensor> converted;
    for (const at::Tensor& tensor : value.toTensorVector()) {
      converted.push_back(convert(tensor));
    }
    return converted;
  }
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> converted;
    for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector()) {
      converted.push_back(tensor ? std::optional<at::Tensor>(convert(*tensor)) : std::nullopt);
    }
    return converted;
  }
  return value;
}

// Replaces the arguments on the stack by what the CPU kernel may see. True when a generator was among them.
inline bool lower_arguments(HostCall& call, const c10::FunctionSchema& schema, torch::jit::Stack& stack) {
  const auto& arguments = schema.arguments();
  const auto first = stack.size() - arguments.size();
  std::optional<size_t> generator;
  for (size_t i = 0; i < arguments.size(); ++i) {
    auto& value = stack[first + i];
    if (value.isDevice() && value.toDevice().type() == kDeviceType) {
      call.use_device(value.toDevice());
      value = c10::Device(c10::kCPU);
    } else if (value.isStorage()) {
      value = call.alias(value.toStorage(), arguments[i]);
    } else if (value.isGenerator() || (value.isNone() && arguments[i].name() == "generator")) {
      generator = first + i;
    } else {
      value = convert_tensors(value, [&](const at::Tensor& tensor) { return call.alias(tensor, arguments[i]); });
    }
  }
  call.require_one_device();
  if (generator) { // last, as the default generator depends on the device of the tensors
    auto& value = stack[*generator];
    value = host_generator(value.isNone() ? default_generator(call.device_index()) : value.toGenerator());
  }
  return generator.has_value();
}

// Runs `kernel` (which takes the same arguments as `op`) on the CPU in place of `op`.
inline void run_on_host(const c10::OperatorHandle& op, const c10::OperatorHandle& kernel, torch::jit::Stack& stack) {
  auto& record = OperatorTable::instance().record(op);
  record.note();
  const bool ruled = rules_apply();
  if (ruled) {
    check_call(record, op.schema(), stack);
  }
  if (!kernel.hasComputedKernelForDispatchKey(c10::DispatchKey::CPU)) {
    refuse("no-kernel", c10::str("there is no kernel for ", op.operator_name()));
  }
  HostCall call(kernel.schema());
  const bool has_generator = lower_arguments(call, kernel.schema(), stack);
  if (ruled) {
    account(record, call.footprint());
  }
  {
    std::optional<BorrowedDefaultGenerator> borrowed;
    if (!has_generator && record.random) {
      borrowed.emplace(call.device_index());
    }
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    kernel.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), &stack);
  }
  if (ruled) {
    call.store_written();
  }
  call.write_back();
  for (auto i = stack.size() - kernel.schema().returns().size(); i < stack.size(); ++i) {
    stack[i] = convert_tensors(stack[i], [&](const at::Tensor& tensor) { return call.result(tensor); });
  }
}

} // namespace spyre
