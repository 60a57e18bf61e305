// Names of the discardable attributes that carry what has no op: the program's signature.
//
// Every entry point is a `func.func`. Its arguments are the user's tensors and symbolic numbers, in
// the order of the flattened call, followed by the states; its results are the user's outputs followed by
// the new values of the states. Literal inputs and outputs (None, 3, "x") are no arguments or results:
// kFlatInputs and kFlatOutputs tell where they stand.
#pragma once

namespace ingot::attr {

// On arguments and results.
inline constexpr const char *kName = "ingot.name";       ///< string: the name the user knows
inline constexpr const char *kDims = "ingot.dims";       ///< strings, one a dimension: "s0", "2*s0", "128"
inline constexpr const char *kState = "ingot.state";     ///< string: name of the state (buffer) it is
inline constexpr const char *kInitial = "ingot.initial"; ///< string, on state arguments: weight key of the first value
inline constexpr const char *kReadLate =
    "ingot.read_late"; ///< unit, on arguments: read after another argument was changed
inline constexpr const char *kMutates = "ingot.mutates"; ///< string, on results: user input that it replaces

// On functions.
inline constexpr const char *kFlatInputs =
    "ingot.flat_inputs"; ///< array: argument number (i64), or [name, literal as JSON]
inline constexpr const char *kFlatOutputs =
    "ingot.flat_outputs";                                 ///< array: result number (i64), or the literal as JSON string
inline constexpr const char *kInSpec = "ingot.in_spec";   ///< string: torch's tree spec of the call
inline constexpr const char *kOutSpec = "ingot.out_spec"; ///< string: torch's tree spec of the outputs
inline constexpr const char *kSymbols = "ingot.symbols";  ///< dictionary: symbol -> [min, max] (i64)

inline constexpr const char *kWeights = "ingot.weights"; ///< strings, on bodies: keys of the weights they take first
inline constexpr const char *kBodyOf = "ingot.body_of";  ///< string, on bodies: the operator that they are
inline constexpr const char *kCompositeDecl = "composite_decl"; ///< dictionary, on bodies: what a compiler may swap in
inline constexpr const char *kOutputNames = "ingot.output_names"; ///< strings: a name for every flat output
inline constexpr const char *kNoInline = "ingot.no_inline";       ///< unit: stays a function of its own

// On carrier ops and ingot.yield whose returns are not simply the results in order.
inline constexpr const char *kReturns =
    "ingot.returns"; ///< array: a result's number, a list of them, or unit for None and what nobody uses

// On carrier ops that only PyTorch can run. Absent when it is not known what the op writes.
inline constexpr const char *kWrites =
    "ingot.writes"; ///< strings: arguments whose new content follows the returns as further results

// On carrier ops that are views which PyTorch writes through: a copy of what is viewed, viewed, and written.
inline constexpr const char *kInto = "ingot.into"; ///< i64: the result that the last operand is copied into

// On carrier ops that see the memory of their first operand (as_strided).
inline constexpr const char *kOperandStrides = "ingot.operand_strides"; ///< i64 array: strides, then the offset

// On carrier ops that are a view where they can be, and a copy elsewhere (reshape).
inline constexpr const char *kShares = "ingot.shares";  ///< bool: the result is a view; unit: it follows from the sizes
inline constexpr const char *kNotOne = "ingot.not_one"; ///< strings: sizes that make it the other where they are 1

// On carrier ops that drop sizes which the exporter took to be 1 (squeeze).
inline constexpr const char *kDropped = "ingot.dropped"; ///< i64 array: their dimensions

// On modules.
inline constexpr const char *kFallback = "ingot.fallback"; ///< unit: carrier ops may stay, and run with PyTorch
inline constexpr const char *kByTorch = "ingot.by_torch";  ///< unit: carrier ops that PyTorch can run stay

} // namespace ingot::attr
