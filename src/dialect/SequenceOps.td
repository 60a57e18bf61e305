// Layers that walk over time or over bags of words: recurrent networks, linear attention, connectionist classification,
// embedding bags.
#ifndef INGOT_SEQUENCE_OPS_TD
#define INGOT_SEQUENCE_OPS_TD

include "OpBase.td"

def Ingot_RecurrentOp : Ingot_Op<"recurrent", [AttrSizedOperandSegments]> {
  let summary = "one layer and direction of a recurrent network, all of its steps";
  let description = [{
    `gates` is what the inputs contribute, [T, B, G * H], with their bias; or [sum of batch sizes, G * H] where `batch_sizes` [T] says how
    many rows each step has, longest sequences first. `h` is [B, P], `c` [B, H] for the cell lstm, `weight` [G * H, P], `bias` [G * H], and
    `projection` [P, H] makes P from H. The cells are lstm, gru, tanh and relu, their gates ordered as in PyTorch. Results: the sequence of
    hidden states, the last hidden state and, for lstm, the last cell state.
    ```mlir
    %s, %h1 = ingot.recurrent %g, %h, %w {cell = "tanh", reverse = false} : (tensor<?x2x8xf32>, tensor<2x8xf32>, tensor<8x8xf32>) -> (tensor<?x2x8xf32>, tensor<2x8xf32>)
    ```
  }];
  let arguments = (ins Ingot_Tensor:$gates, Ingot_Tensor:$h, Ingot_Tensor:$weight, Optional<Ingot_Tensor>:$c, Optional<Ingot_Tensor>:$bias,
    Optional<Ingot_Tensor>:$projection, Optional<Ingot_Tensor>:$batch_sizes, StrAttr:$cell, BoolAttr:$reverse);
  let results = (outs Ingot_Tensor:$sequence, Ingot_Tensor:$last_h, Variadic<Ingot_Tensor>:$last_c);
  let assemblyFormat = [{
    $gates `,` $h `,` $weight (`cell` $c^)? (`bias` $bias^)? (`projection` $projection^)? (`batch_sizes` $batch_sizes^)? attr-dict `:`
    functional-type(operands, results)
  }];
}

def Ingot_GatedDeltaOp : Ingot_Op<"gated_delta"> {
  let summary = "the gated delta rule of linear attention, all of its steps";
  let description = [{
    `query` and `key` are [B, H, S, K], `value` [B, H, S, V], `decay` and `beta` [B, H, S], `state` [B, H, K, V], all of type f32. Each step
    multiplies the state by its decay, takes what the value differs from the key's memory, times beta, writes it at the key,
    and reads the query. Results: what was read, [B, H, S, V], and the last state.
    ```mlir
    %r, %s1 = ingot.gated_delta %q, %k, %v, %d, %b, %s : (tensor<1x2x?x4xf32>, tensor<1x2x?x4xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?xf32>, tensor<1x2x?xf32>, tensor<1x2x4x8xf32>) -> (tensor<1x2x?x8xf32>, tensor<1x2x4x8xf32>)
    ```
  }];
  let arguments = (ins Ingot_Tensor:$query, Ingot_Tensor:$key, Ingot_Tensor:$value, Ingot_Tensor:$decay, Ingot_Tensor:$beta, Ingot_Tensor:$state);
  let results = (outs Ingot_Tensor:$result, Ingot_Tensor:$last_state);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Ingot_CtcLossOp : Ingot_Op<"ctc_loss"> {
  let summary = "negative log likelihood of label sequences under all alignments (connectionist temporal classification)";
  let description = [{
    `log_probs` is [T, N, C]; `targets` [N, S] or all labels one after another; the lengths are [N].
    ```mlir
    %r = ingot.ctc_loss %p, %t, %il, %tl {blank = 0 : i64} : (tensor<50x2x20xf32>, tensor<2x10xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<2xf32>
    ```
  }];
  let arguments = (ins Ingot_Tensor:$log_probs, Ingot_Tensor:$targets, Ingot_Tensor:$input_lengths, Ingot_Tensor:$target_lengths, I64Attr:$blank);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Ingot_EmbeddingBagOp : Ingot_Op<"embedding_bag"> {
  let summary = "sum, mean or maximum of the rows of a table that each bag of indices names";
  let description = [{
    Bag b holds the indices from offsets[b] to the next offset. With `include_last_offset` the last offset ends the last bag. `padding` is
    the index that does not count, -1 for none. `weights` multiplies every row. Empty bags give zeros. Results: the bags, and the
    number of rows in each.
    ```mlir
    %r, %n = ingot.embedding_bag %w, %i, %o {mode = "sum", include_last_offset = false, padding = -1 : i64} : (tensor<10x3xf32>, tensor<4xi64>, tensor<2xi64>) -> (tensor<2x3xf32>, tensor<2xi64>)
    ```
  }];
  let arguments = (ins Ingot_Tensor:$table, Ingot_Tensor:$indices, Ingot_Tensor:$offsets, Optional<Ingot_Tensor>:$weights, StrAttr:$mode,
    BoolAttr:$include_last_offset, I64Attr:$padding);
  let results = (outs Ingot_Tensor:$result, Ingot_Tensor:$counts);
  let assemblyFormat = "$table `,` $indices `,` $offsets (`weights` $weights^)? attr-dict `:` functional-type(operands, results)";
}

#endif
