"""Several users of one program, each with states of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ingot import _core
    from ingot.program import Program


class Session:
    """A program with states of its own, which start with their initial values. Made by `Program.session`.

    Weights and plan are shared. Sessions may run at once; calls of one session wait for each other.
    """

    def __init__(self, program: Program, core: _core.Program) -> None:
        self._program = program
        self._core = core

    @property
    def program(self) -> Program:
        return self._program

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.run(*args, **kwargs)

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Like `Program.run`, with the session's states."""
        return self.run_entry(self._program._only_entry(), *args, **kwargs)

    def run_entry(self, entry: str, /, *args: Any, **kwargs: Any) -> Any:
        """Like `Program.run_entry`, with the session's states."""
        return self._program._run(self._core, entry, args, kwargs)

    def cancel(self) -> None:
        """Ends the call that runs now, from another thread: it raises CancelledError after the step that it is at.

        States that it changes in place may be half changed; `reset_states` gives them their initial values.
        """
        self._core.cancel()

    def reset_states(self) -> None:
        """Gives every state its initial value."""
        self._core.reset_states()

    def read_state(self, name: str) -> Any:
        """A copy of a state."""
        return self._program._read_state(self._core, name)

    def write_state(self, name: str, value: Any) -> None:
        """Replaces the value of a state."""
        self._program._write_state(self._core, name, value)

    def __reduce__(self) -> Any:
        raise TypeError("a session cannot be copied or pickled: its states are read with read_state")
