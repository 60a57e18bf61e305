// Loops over contiguous float32 rows, compiled for several instruction sets. Sums have many partial results and
// are exact to a few units in the last place whatever the length.
#pragma once

#include <cstdint>

namespace ingot::rows {

bool isFinite(const float *x, int64_t count); ///< neither infinities nor NaN
float maximum(const float *x, int64_t count); ///< NaN if there is one
double sum(const float *x, int64_t count);
/// The sum of (x - shift)².
double squares(const float *x, float shift, int64_t count);
/// y = exp(x - shift); returns the sum of y. y may be x.
double expShifted(float *y, const float *x, float shift, int64_t count);
/// The sum of exp(x - shift).
double sumExpShifted(const float *x, float shift, int64_t count);
/// y = x * factor; y may be x.
void scale(float *y, const float *x, float factor, int64_t count);
/// y = x - shift.
void shift(float *y, const float *x, float shift, int64_t count);
/// y = (x - mean) * factor * weight + bias; weight and bias may be null.
void normalise(float *y, const float *x, float mean, float factor, const float *weight, const float *bias,
               int64_t count);

// Column by column, for many rows in turn.

/// sums += x.
void addTo(float *sums, const float *x, int64_t count);
/// sums += (x - shift)².
void addSquaresTo(float *sums, const float *x, const float *shift, int64_t count);
/// y = x * factor + bias.
void affine(float *y, const float *x, const float *factor, const float *bias, int64_t count);

} // namespace ingot::rows
