"""The package that others install, built and imported without any network."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

import gate_sidecar

FOLDER = Path(__file__).resolve().parents[1]
PROJECT = (FOLDER / "pyproject.toml").read_text()
PROGRAM = """
import gate_sidecar.client, gate_sidecar.verify, sys
gate_sidecar.client.GateClient(tenant_id="acme", api_key="x")
print(gate_sidecar.__file__)
names = {name.split(".")[0] for name in sys.modules}
print(sorted(names - set(sys.stdlib_module_names) - {"__main__"}))
"""


class Package(unittest.TestCase):
    """pyproject.toml."""

    def test_it_has_the_version_of_the_product(self) -> None:
        product = json.loads((FOLDER.parent / "package.json").read_text())
        self.assertEqual(gate_sidecar.__version__, product["version"])

    def test_it_names_every_package(self) -> None:
        folders = [path.parent for path in FOLDER.glob("gate_sidecar/**/__init__.py")]
        packages = {".".join(folder.relative_to(FOLDER).parts) for folder in folders}
        found = re.search(r"^packages = (\[.*\])$", PROJECT, re.MULTILINE)
        assert found is not None
        self.assertEqual(set(json.loads(found[1])), packages)

    @unittest.skipUnless(importlib.util.find_spec("setuptools"), "setuptools is what builds it")
    @unittest.skipUnless(hasattr(sys, "stdlib_module_names"), "from Python 3.10 on")
    def test_what_is_installed_stands_alone(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            self.build(folder)
            ran = self.python("-S", "-c", PROGRAM, path=folder / "site", cwd=folder)
            where, others = ran.splitlines()
            self.assertEqual(Path(where), folder / "site" / "gate_sidecar" / "__init__.py")
            self.assertEqual(others, "['gate_sidecar']")
            self.assertTrue((folder / "site" / "gate_sidecar" / "py.typed").exists())

    def build(self, folder: Path) -> None:
        """Make what a wheel holds, from a copy of what is kept of the package."""
        with zipfile.ZipFile(folder / "source.zip", "w") as packed:
            for path in [
                *FOLDER.glob("gate_sidecar/**/*.py"),
                FOLDER / "gate_sidecar" / "py.typed",
            ]:
                packed.write(path, path.relative_to(FOLDER))
            for file in ("pyproject.toml", "README.md", "LICENSE"):
                packed.write(FOLDER / file, file)
            packed.extractall(folder / "source")
        build = "from setuptools import setup; setup()"
        to = str(folder / "site")
        self.python("-c", build, "-q", "build_py", "--build-lib", to, cwd=folder / "source")

    def python(self, *args: str, cwd: Path, path: Path = Path()) -> str:
        ran = subprocess.run(
            [sys.executable, *args],
            cwd=cwd,
            env={"PYTHONPATH": str(path)},
            capture_output=True,
            text=True,
        )
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return ran.stdout
