"""Where the public test vectors of the repository are."""

from pathlib import Path

VECTORS = Path(__file__).resolve().parents[2] / "test" / "testdata" / "vectors"
