// The single place that decides whether the profile allows a call. It runs before the kernel and only in a profile that
// restricts anything; what depends on the operator alone was worked out when the operator was first met.
#pragma once

#include "memory.h"
#include "operators.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

namespace spyre {

// --- what may live on the device -----------------------------------------------------------------------------------

inline void require_living(c10::ScalarType dtype) {
  const auto& living = profile().living;
  if (!living.empty() && !living.has(dtype)) {
    refuse("dtype-storage", c10::str("tensors of dtype ", c10::getDtypeNames(dtype).first, " cannot live on this device"));
  }
  if (profile().int64_as_int32 && dtype == at::kLong) {
    TORCH_WARN_ONCE(DEVICE_NAME ": int64 is stored as int32; values outside the 32-bit range change");
  }
}

inline void require_rank(size_t dimensions) {
  const auto most = profile().most_dimensions;
  if (most != 0 && dimensions > static_cast<size_t>(most)) {
    refuse("rank", c10::str("a tensor of ", dimensions, " dimensions, the device has at most ", most));
  }
}

inline void require_format(c10::MemoryFormat format) {
  if (profile().contiguous_only && format != c10::MemoryFormat::Contiguous && format != c10::MemoryFormat::Preserve) {
    refuse("memory-format", c10::str("only contiguous tensors, not ", format));
  }
}

inline void check_creation(c10::IntArrayRef size, c10::ScalarType dtype, std::optional<c10::MemoryFormat> format) {
  if (rules_apply()) {
    require_living(dtype);
    require_rank(size.size());
    require_format(format.value_or(c10::MemoryFormat::Contiguous));
  }
}

// A result was worked out on the host and is about to become a tensor of the device.
inline void check_result(const at::Tensor& host) {
  require_living(host.scalar_type());
  require_rank(static_cast<size_t>(host.dim()));
}

// --- what an operator may do ---------------------------------------------------------------------------------------

inline void require_operator(const OperatorRecord& record) {
  if (record.missing) {
    refuse("operator-missing", c10::str("the device does not have ", record.name));
  }
}

inline void require_computing(const OperatorRecord& record, c10::ScalarType dtype) {
  const auto& computing = profile().computing;
  const bool fine = !record.compiled || computing.empty() || computing.has(dtype) ||
      (dtype == at::kFloat && record.compiled_in_single);
  if (!fine) {
    refuse("dtype-compute", c10::str(record.name, " does not work on ", c10::getDtypeNames(dtype).first));
  }
}

inline void check_tensor(const OperatorRecord& record, const at::Tensor& tensor) {
  if (tensor.defined() && tensor.device().type() == kDeviceType) {
    require_computing(record, tensor.scalar_type());
  }
}

// A dtype or a memory format that the operator was asked for. On the stack both are plain numbers.
inline void check_wish(const c10::Argument& argument, const c10::IValue& value) {
  if (!value.isInt()) {
    return;
  }
  const auto& type = argument.real_type();
  const auto kind = type->kind() == c10::TypeKind::OptionalType
      ? type->castRaw<c10::OptionalType>()->getElementType()->kind()
      : type->kind();
  if (kind == c10::TypeKind::ScalarTypeType) {
    require_living(value.toScalarType());
  } else if (kind == c10::TypeKind::MemoryFormatType) {
    require_format(value.toMemoryFormat());
  }
}

inline void check_call(
    const OperatorRecord& record, const c10::FunctionSchema& schema, const torch::jit::Stack& stack) {
  require_operator(record);
  const auto first = stack.size() - schema.arguments().size();
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    const auto& value = stack[first + i];
    if (value.isTensor()) {
      check_tensor(record, value.toTensor());
    } else if (value.isTensorList()) {
      for (const at::Tensor& tensor : value.toTensorVector()) {
        check_tensor(record, tensor);
      }
    } else {
      check_wish(schema.arguments()[i], value);
    }
  }
}

// --- what a compiled kernel would need -----------------------------------------------------------------------------

// Sums up the tensors of one call. The work of a kernel is divided among cores by whole sticks of its largest tensor.
class FootprintOfCall {
 public:
  void add(const at::Tensor& tensor) {
    if (tensor.defined()) {
      const auto bytes = static_cast<int64_t>(whole_sticks(tensor.nbytes()));
      total_ += bytes;
      largest_ = std::max(largest_, bytes);
    }
  }

  OperatorRecord::Footprint read() const {
    const auto sticks = std::max<int64_t>(largest_ / static_cast<int64_t>(kStickBytes), 1);
    const auto cores = std::min<int64_t>(sticks, static_cast<int64_t>(profile().cores));
    return {1, total_, cores, (total_ + cores - 1) / cores, (largest_ + cores - 1) / cores};
  }

 private:
  int64_t total_ = 0, largest_ = 0;
};

// Reports what a call takes; refuses it when the profile says that a limit holds. Called before the kernel, so results
// are not in the sum: an emulator that runs eagerly learns their size too late.
inline void account(OperatorRecord& record, const FootprintOfCall& call) {
  const auto footprint = call.read();
  if (profile().refuse_scratchpad && static_cast<uint64_t>(footprint.scratchpad_bytes) > profile().scratchpad) {
    refuse("scratchpad", c10::str(record.name, " takes ", footprint.scratchpad_bytes, " bytes a core"));
  }
  if (profile().refuse_span && static_cast<uint64_t>(footprint.span_bytes) > profile().span) {
    refuse("span", c10::str(record.name, " has a core address ", footprint.span_bytes, " bytes of one tensor"));
  }
  OperatorTable::instance().account(record, footprint);
}

// --- operators with a typed kernel ---------------------------------------------------------------------------------

// Notes and checks an operator that has a typed kernel; all others pass `run_on_host`. Meant for a static variable.
class TypedOperator {
 public:
  explicit TypedOperator(const char* name, const char* overload = "")
      : record_(OperatorTable::instance().record(c10::Dispatcher::singleton().findSchemaOrThrow(name, overload))) {}

  void note() const {
    record_.note();
    if (rules_apply()) {
      require_operator(record_);
    }
  }

 private:
  OperatorRecord& record_;
};

} // namespace spyre
