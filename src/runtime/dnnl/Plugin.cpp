// What libingot_dnnl.so gives to the runtime.
#include "runtime/dnnl/Dnnl.h"

namespace ingot {
namespace {

bool multiply(const DnnlProduct &p) {
  return dnnl_sgemm('N', p.isTransposed ? 'T' : 'N', p.m, p.n, p.k, p.scale, p.a, p.aRow, p.b, p.bRow, 0.0F, p.c,
                    p.cRow) == dnnl_success;
}

constexpr DnnlApi kApi = {kDnnlApiVersion, makeDnnlConv, makeDnnlMatmul, multiply};

} // namespace
} // namespace ingot

extern "C" __attribute__((visibility("default"))) const ingot::DnnlApi *ingot_dnnl_api() { return &ingot::kApi; }
