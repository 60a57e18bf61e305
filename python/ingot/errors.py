"""What can go wrong. Catch `IngotError` for everything, or a subclass for one kind of problem."""

from __future__ import annotations


class IngotError(Exception):
    """Base of every exception that Ingot raises on purpose."""


class UsageError(IngotError, ValueError):
    """The call cannot work: a wrong name, shape, dtype, path or option."""


class CorruptFileError(IngotError, ValueError):
    """A file is truncated, damaged, or something else than it claims to be."""


class UnsupportedError(IngotError, NotImplementedError):
    """Valid, but Ingot cannot handle it. The message says what to do."""


class LoweringError(UnsupportedError, ValueError):
    """A lowering that the caller registered raised an exception, or gives something else than the program says."""


class AssetIOError(IngotError, OSError):
    """The operating system refused: a missing file, no permission, a full disk."""


class CancelledError(IngotError, RuntimeError):
    """The call was ended by `cancel`."""


class InternalError(IngotError, RuntimeError):
    """A bug of Ingot. Please report it."""


class ExportError(IngotError):
    """A model cannot be exported, so that there is no graph to extract."""


class ConversionError(IngotError):
    """An exported program cannot become a graph, or a registered converter failed."""


class SerializationError(IngotError):
    """A graph document cannot be written, read, or is not valid."""


class ExecutionError(IngotError):
    """A graph cannot be run; the message names the node, the input or the weight."""


class WeightLoadError(IngotError):
    """A checkpoint is missing, damaged or of an unknown kind."""
