// Fused LSTM and GRU cells. torch calls them for every accelerator and has no CPU kernel to fall back to.
//
// Gate order and workspace are this file's own affair but for what torch fixes: the gates lie side by side in the last
// dimension (LSTM: input, forget, cell, output; GRU: reset, update, new), and the backward gets the forward's workspace.
#pragma once

#include "policy.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/zeros_like.h>

#include <tuple>

namespace spyre {

inline at::Tensor with_bias(const at::Tensor& gates, const std::optional<at::Tensor>& bias) {
  return bias && bias->defined() ? gates + *bias : gates;
}

inline at::Tensor sigmoid_slope(const at::Tensor& value) {
  return value * (1 - value);
}

inline at::Tensor tanh_slope(const at::Tensor& value) {
  return 1 - value * value;
}

inline at::Tensor bias_gradient(const at::Tensor& gates, bool has_bias) {
  return has_bias ? gates.sum(0) : at::Tensor();
}

inline std::tuple<at::Tensor, at::Tensor, at::Tensor> lstm_cell(
    const at::Tensor& input_gates, const at::Tensor& hidden_gates, const at::Tensor& cell,
    const std::optional<at::Tensor>& input_bias, const std::optional<at::Tensor>& hidden_bias) {
  static const TypedOperator self("aten::_thnn_fused_lstm_cell");
  self.note();
  const auto gates = (with_bias(input_gates, input_bias) + with_bias(hidden_gates, hidden_bias)).chunk(4, 1);
  const auto in = gates[0].sigmoid(), forget = gates[1].sigmoid(), fresh = gates[2].tanh(), out = gates[3].sigmoid();
  auto next_cell = forget * cell + in * fresh;
  auto next_hidden = out * next_cell.tanh();
  return {std::move(next_hidden), std::move(next_cell), at::cat({in, forget, fresh, out}, 1)};
}

inline std::tuple<at::Tensor, at::Tensor, at::Tensor> lstm_cell_backward(
    const std::optional<at::Tensor>& hidden_grad, const std::optional<at::Tensor>& cell_grad, const at::Tensor& cell,
    const at::Tensor& next_cell, const at::Tensor& workspace, bool has_bias) {
  static const TypedOperator self("aten::_thnn_fused_lstm_cell_backward_impl");
  self.note();
  const bool has_hidden_grad = hidden_grad && hidden_grad->defined();
  const bool has_cell_grad = cell_grad && cell_grad->defined();
  if (!has_hidden_grad && !has_cell_grad) {
    return {};
  }
  const auto gates = workspace.chunk(4, 1);
  const auto &in = gates[0], &forget = gates[1], &fresh = gates[2], &out = gates[3];
  const auto squashed = next_cell.tanh();
  const auto through_hidden = has_hidden_grad ? *hidden_grad : at::zeros_like(cell);
  auto total = through_hidden * out * tanh_slope(squashed);
  if (has_cell_grad) {
    total = total + *cell_grad;
  }
  auto gates_grad = at::cat(
      {total * fresh * sigmoid_slope(in), total * cell * sigmoid_slope(forget), total * in * tanh_slope(fresh),
       through_hidden * squashed * sigmoid_slope(out)},
      1);
  auto bias_grad = bias_gradient(gates_grad, has_bias);
  return {std::move(gates_grad), total * forget, std::move(bias_grad)};
}

inline std::tuple<at::Tensor, at::Tensor> gru_cell(
    const at::Tensor& input_gates, const at::Tensor& hidden_gates, const at::Tensor& hidden,
    const std::optional<at::Tensor>& input_bias, const std::optional<at::Tensor>& hidden_bias) {
  static const TypedOperator self("aten::_thnn_fused_gru_cell");
  self.note();
  const auto from_input = with_bias(input_gates, input_bias).chunk(3, 1);
  const auto from_hidden = with_bias(hidden_gates, hidden_bias).chunk(3, 1);
  const auto reset = (from_input[0] + from_hidden[0]).sigmoid();
  const auto update = (from_input[1] + from_hidden[1]).sigmoid();
  const auto fresh = (from_input[2] + reset * from_hidden[2]).tanh();
  return {fresh + update * (hidden - fresh), at::cat({reset, update, fresh, from_hidden[2], hidden}, 1)};
}

inline std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor> gru_cell_backward(
    const at::Tensor& hidden_grad, const at::Tensor& workspace, bool has_bias) {
  static const TypedOperator self("aten::_thnn_fused_gru_cell_backward");
  self.note();
  const auto saved = workspace.chunk(5, 1);
  const auto &reset = saved[0], &update = saved[1], &fresh = saved[2], &candidate = saved[3], &hidden = saved[4];
  const auto fresh_grad = hidden_grad * (1 - update) * tanh_slope(fresh);
  const auto update_grad = hidden_grad * (hidden - fresh) * sigmoid_slope(update);
  const auto reset_grad = fresh_grad * candidate * sigmoid_slope(reset);
  auto input_grad = at::cat({reset_grad, update_grad, fresh_grad}, 1);
  auto recurrent_grad = at::cat({reset_grad, update_grad, fresh_grad * reset}, 1);
  auto input_bias_grad = bias_gradient(input_grad, has_bias);
  auto hidden_bias_grad = bias_gradient(recurrent_grad, has_bias);
  return {
      std::move(input_grad), std::move(recurrent_grad), hidden_grad * update, std::move(input_bias_grad),
      std::move(hidden_bias_grad)};
}

} // namespace spyre
