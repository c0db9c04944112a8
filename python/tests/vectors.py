"""Folder of the repository's public test vectors."""

from pathlib import Path

VECTORS = Path(__file__).resolve().parents[2] / "test" / "testdata" / "vectors"
