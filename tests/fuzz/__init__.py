"""Hostile files by the thousand: `python -m fuzz` (see README.md in this folder)."""
