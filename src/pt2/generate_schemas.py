#!/usr/bin/env python3
"""Writes aten_schemas.txt: the schema of every operator that torch's dispatcher knows.

Run it with the torch release that the project supports; `--check` only compares and exits with 1
if the file is out of date. Lines are sorted by qualified name because the library looks names up by
bisection in the text.
"""

import argparse
import pathlib
import sys

import torch
import torch.ao.quantization.fx._decomposed  # registers quantized_decomposed

# Of packages that are not installed here, and those that are registered when first used.
OTHERS = """\
torch_nn::_linear_cross_entropy_batch_chunked(Tensor input, Tensor linear_weight, Tensor target, \
Tensor? linear_bias, Tensor? weight, str reduction, SymInt ignore_index, float label_smoothing, \
SymInt batch_chunk_size, str acc_policy, ScalarType acc_dtype, bool allow_retain_graph, bool compute_input_grad, \
bool compute_linear_weight_grad, bool compute_linear_bias_grad) -> (Tensor, Tensor, Tensor, Tensor)
torch_nn::_linear_cross_entropy_batch_chunked_no_reduction(Tensor input, Tensor linear_weight, Tensor target, \
Tensor? linear_bias, Tensor? weight, SymInt ignore_index, SymInt batch_chunk_size, str acc_policy, \
ScalarType acc_dtype) -> Tensor
torchao::choose_qparams_affine(Tensor input, str mapping_type, SymInt[] block_size, ScalarType target_dtype, \
Scalar? quant_min=None, Scalar? quant_max=None, float? eps=None, ScalarType? scale_dtype=None, \
ScalarType? zero_point_dtype=None, bool keepdim=False) -> (Tensor, Tensor)
torchao::dequantize_affine(Tensor input, SymInt[] block_size, Tensor scale, Tensor? zero_point, \
ScalarType input_dtype, Scalar? quant_min=None, Scalar? quant_max=None, str zero_point_domain="INT", \
ScalarType output_dtype=6) -> Tensor
torchao::quantize_affine(Tensor input, SymInt[] block_size, Tensor scale, Tensor? zero_point, \
ScalarType output_dtype, Scalar? quant_min=None, Scalar? quant_max=None, str zero_point_domain="INT") -> Tensor
torchvision::deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h, \
SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt groups, \
SymInt offset_groups, bool use_mask) -> Tensor
torchvision::nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor
torchvision::roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, \
int sampling_ratio, bool aligned) -> Tensor
"""

TABLE = pathlib.Path(__file__).with_name("aten_schemas.txt")


def qualified_name(schema) -> str:
    return f"{schema.name}.{schema.overload_name}" if schema.overload_name else schema.name


def generate() -> str:
    dispatched = set(torch._C._dispatch_get_all_op_names())
    rows = {}
    for schema in torch._C._jit_get_all_schemas():
        name = qualified_name(schema)
        if name in dispatched:
            rows[name] = str(schema)
    for line in OTHERS.splitlines():
        rows[line.partition("(")[0]] = line
    return "".join(rows[name] + "\n" for name in sorted(rows))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    text = generate()
    if not parser.parse_args().check:
        TABLE.write_text(text)
        print(f"{TABLE.name}: {text.count(chr(10))} operators of torch {torch.__version__}")
        return 0
    if TABLE.exists() and TABLE.read_text() == text:
        return 0
    print(f"{TABLE.name} is out of date: run {pathlib.Path(__file__).name}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
