// How a profile stores values: 1-6-9 floats in place of fp16 and bf16, int32 in place of int64.
//
// torch goes on to see the dtype it asked for. What the device wrote is brought to the values that the real format can
// hold, right after it was written: by a copy to the device or by an operator.
#pragma once

#include "profile.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>

#include <cmath>
#include <limits>

namespace spyre {

// A float with 6 bits of exponent (bias 31) and 9 of fraction: ties to even, no subnormal numbers, too large is infinite.
// Real hardware is up to one unit off nearest-even, by no rule that the published cases give away.
inline float to_one_six_nine(float value) {
  constexpr int kSignificantBits = 10;
  constexpr int kSmallestExponent = -31, kLargestExponent = 32;
  if (value == 0 || !std::isfinite(value)) {
    return value;
  }
  int exponent = 0;
  const float significand = std::frexp(value, &exponent); // at least a half, less than one
  const float rounded =
      std::ldexp(std::nearbyint(std::ldexp(significand, kSignificantBits)), exponent - kSignificantBits);
  const int magnitude = std::ilogb(rounded);
  if (magnitude < kSmallestExponent) {
    return std::copysign(0.0F, value);
  }
  return magnitude > kLargestExponent ? std::copysign(std::numeric_limits<float>::infinity(), value) : rounded;
}

template <typename Element, typename Store>
void store_each(const at::Tensor& host, Store store) {
  auto flat = host.contiguous();
  auto* elements = flat.mutable_data_ptr<Element>();
  bool changed = false;
  for (int64_t i = 0; i < flat.numel(); ++i) {
    const Element stored = store(elements[i]);
    changed |= !(stored == elements[i]) && elements[i] == elements[i];
    elements[i] = stored;
  }
  if (changed && !flat.is_same(host)) {
    host.copy_(flat);
  }
}

template <typename Half>
void store_one_six_nine(const at::Tensor& host) {
  store_each<Half>(host, [](Half value) { return static_cast<Half>(to_one_six_nine(static_cast<float>(value))); });
}

// Brings the values of a freshly written host alias to what the device's format holds.
inline void store_in_format(const at::Tensor& host) {
  if (host.numel() == 0 || host.storage().data() == nullptr) {
    return;
  }
  const auto dtype = host.scalar_type();
  if (profile().one_six_nine.has(dtype)) {
    if (dtype == at::kHalf) {
      store_one_six_nine<at::Half>(host);
    } else if (dtype == at::kBFloat16) {
      store_one_six_nine<at::BFloat16>(host);
    }
  }
  if (profile().int64_as_int32 && dtype == at::kLong) { // the upper half is lost, as in a narrowing store
    store_each<int64_t>(host, [](int64_t value) { return static_cast<int64_t>(static_cast<int32_t>(value)); });
  }
}

} // namespace spyre
