#include "runtime/kernels/conv/DepthwisePiece.h"

#include "runtime/kernels/elementwise/Avx512.h"

namespace ingot::depthwise {

std::optional<Finish> finishOf(Activation activation) {
  if (gemm::isLimit(activation))
    return Finish::Limit;
  if (activation == Activation::Silu)
    return Finish::Silu;
  if (activation == Activation::HardSwish)
    return Finish::HardSwish;
  return std::nullopt;
}

std::vector<float> packFilters(const ConvProblem &problem, const Geometry &g) {
  const std::vector<int64_t> &strides = problem.weight.strides;
  const int64_t rowStride = strides.size() == 4 ? strides[2] : 0;
  const int64_t taps = g.kernel.height * g.kernel.width, blocks = (g.channels + kBlock - 1) / kBlock;
  std::vector<float> packed(static_cast<size_t>(blocks * taps * kBlock));
  const auto *from = static_cast<const float *>(problem.weightData);
  for (int64_t c = 0; c < g.channels; ++c)
    for (int64_t tap = 0; tap < taps; ++tap)
      packed[static_cast<size_t>((c / kBlock * taps + tap) * kBlock + c % kBlock)] =
          from[c * strides[0] + tap / g.kernel.width * rowStride + tap % g.kernel.width * strides.back()];
  return packed;
}

#if defined(__x86_64__)

namespace {

template <int Width, int Stride, bool atEdge>
INGOT_AVX512_INLINE void addTapRow(const Piece &piece, const float *line, const float *weights, __mmask16 low,
                                   __mmask16 high, __m512 (&sums)[kPixels][2]) {
  __m512 taps[Width][2];
#pragma unroll
  for (int tap = 0; tap < Width; ++tap) {
    taps[tap][0] = _mm512_loadu_ps(weights + tap * kBlock);
    taps[tap][1] = _mm512_loadu_ps(weights + tap * kBlock + avx512::kLanes);
  }
#pragma unroll
  for (int column = 0; column < (kPixels - 1) * Stride + Width; ++column) {
    const bool isInside =
        !atEdge || static_cast<uint64_t>(piece.firstColumn + column) < static_cast<uint64_t>(piece.columns);
    const float *from = isInside ? line + column * piece.pixelElements : kZeros;
    const __m512 first = _mm512_maskz_loadu_ps(low, from);
    const __m512 second = _mm512_maskz_loadu_ps(high, from + avx512::kLanes);
#pragma unroll
    for (int tap = 0; tap < Width; ++tap) {
      const int pixel = (column - tap) / Stride;
      if (column < tap || (column - tap) % Stride != 0 || pixel >= kPixels)
        continue;
      sums[pixel][0] = _mm512_fmadd_ps(first, taps[tap][0], sums[pixel][0]);
      sums[pixel][1] = _mm512_fmadd_ps(second, taps[tap][1], sums[pixel][1]);
    }
  }
}

INGOT_AVX512_INLINE __m512 finished(const Piece &piece, __m512 sum) {
  switch (piece.finish) {
  case Finish::Silu:
    return avx512::silu(sum);
  case Finish::HardSwish:
    return avx512::hardSwish(sum);
  case Finish::Limit:
    break;
  }
  return avx512::limited(sum, _mm512_set1_ps(piece.limits.floor), _mm512_set1_ps(piece.limits.ceiling));
}

/// Stores the pixels that count, and adds them to the sums of their row.
INGOT_AVX512_INLINE void storePixels(const Piece &piece, const __mmask16 (&stored)[2], __m512 (&sums)[kPixels][2]) {
  __m512 total[2] = {_mm512_setzero_ps(), _mm512_setzero_ps()};
#pragma unroll
  for (int64_t pixel = 0; pixel < kPixels; ++pixel) {
    if (pixel >= piece.pixels)
      break;
#pragma unroll
    for (int64_t v = 0; v < 2; ++v) {
      const __m512 value = finished(piece, sums[pixel][v]);
      total[v] = _mm512_add_ps(total[v], value);
      _mm512_mask_storeu_ps(piece.out + pixel * piece.outElements + v * avx512::kLanes, stored[v], value);
    }
  }
  if (piece.rowSums)
#pragma unroll
    for (int64_t v = 0; v < 2; ++v) {
      float *row = piece.rowSums + v * avx512::kLanes;
      _mm512_mask_storeu_ps(row, stored[v], _mm512_add_ps(_mm512_maskz_loadu_ps(stored[v], row), total[v]));
    }
}

template <int Width, int Stride, bool atEdge> INGOT_AVX512 void computePiece(const Piece &piece) {
  const __mmask16 low = avx512::firstOf(piece.channels), high = avx512::firstOf(piece.channels - avx512::kLanes);
  const float *bias = piece.bias ? piece.bias : kZeros;
  const __m512 start[2] = {_mm512_maskz_loadu_ps(low, bias), _mm512_maskz_loadu_ps(high, bias + avx512::kLanes)};
  __m512 sums[kPixels][2];
#pragma unroll
  for (auto &sum : sums)
    sum[0] = start[0], sum[1] = start[1];
  for (int64_t row = piece.firstTapRow; row < piece.firstTapRow + piece.tapRows; ++row)
    addTapRow<Width, Stride, atEdge>(piece, piece.x + row * piece.rowElements, piece.weights + row * Width * kBlock,
                                     low, high, sums);
  storePixels(piece, {low, high}, sums);
}

template <int Width, int Stride> constexpr Functions functionsOf() {
  return {computePiece<Width, Stride, false>, computePiece<Width, Stride, true>};
}

} // namespace

Functions functionsFor(int64_t width, int64_t stride) {
  if (!avx512::isThere() || stride > 2)
    return {};
  switch (width * 10 + stride) {
  case 31:
    return functionsOf<3, 1>();
  case 32:
    return functionsOf<3, 2>();
  case 51:
    return functionsOf<5, 1>();
  case 52:
    return functionsOf<5, 2>();
  case 71:
    return functionsOf<7, 1>();
  default:
    return {};
  }
}

#else

Functions functionsFor(int64_t, int64_t) { return {}; }

#endif

} // namespace ingot::depthwise
