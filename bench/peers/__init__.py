"""One module a runtime that is measured. Each runs in an environment of its own; see `worker` for what it speaks."""
