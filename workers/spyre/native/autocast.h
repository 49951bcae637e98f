// Mixed precision: what torch.autocast("spyre") does to an operator's arguments.
//
// torch has the operator lists and the casts; the kernels here are boxed, one per policy, since one typed wrapper per
// operator (torch's own way) would add half to the build time.
#pragma once

#include "host_call.h"

#include <ATen/autocast_mode.h>
#include <torch/library.h>

namespace spyre {

enum class Precision {
  kLower,   // cast to the dtype of the autocast region
  kSingle,  // cast to float32
  kSingleResult,  // keep the arguments, ask for a float32 result
  kWidest,  // cast to the widest dtype among the arguments
};

inline c10::ScalarType widest_dtype(const torch::jit::Stack& stack, size_t first) {
  auto widest = at::autocast::get_autocast_dtype(kDeviceType);
  for (size_t i = first; i < stack.size(); ++i) {
    convert_tensors(stack[i], [&](const at::Tensor& tensor) {
      widest = at::autocast::prioritize(widest, tensor, kDeviceType);
      return tensor;
    });
  }
  return widest;
}

inline void ask_for_single_result(const c10::FunctionSchema& schema, torch::jit::Stack& stack, size_t first) {
  if (!at::autocast::is_eligible(stack[first].toTensor(), kDeviceType)) {
    return;
  }
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    if (schema.arguments()[i].name() == "dtype" && stack[first + i].isNone()) {
      stack[first + i] = c10::IValue(at::kFloat);
    }
  }
}

template <Precision policy>
void autocast(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const c10::impl::ExcludeDispatchKeyGuard inside(c10::DispatchKey::AutocastPrivateUse1);
  const auto first = stack->size() - op.schema().arguments().size();
  if constexpr (policy == Precision::kSingleResult) {
    ask_for_single_result(op.schema(), *stack, first);
  } else {
    const auto dtype = policy == Precision::kLower ? at::autocast::get_autocast_dtype(kDeviceType)
        : policy == Precision::kSingle             ? at::kFloat
                                                   : widest_dtype(*stack, first);
    for (size_t i = first; i < stack->size(); ++i) {
      (*stack)[i] = convert_tensors((*stack)[i], [&](const at::Tensor& tensor) {
        return at::autocast::cached_cast(dtype, tensor, kDeviceType);
      });
    }
  }
  op.callBoxed(stack);
}

// `spelling` is an entry of torch's lists as the preprocessor prints it: "pow, Tensor_Scalar" means pow.Tensor_Scalar.
template <Precision policy>
void register_autocast(torch::Library& library, std::string spelling) {
  const auto comma = spelling.find(',');
  if (comma != std::string::npos) {
    spelling.replace(comma, spelling.find_first_not_of(", ", comma) - comma, ".");
  }
  library.impl(spelling.c_str(), torch::CppFunction::makeFromBoxedFunction<&autocast<policy>>());
}

} // namespace spyre
