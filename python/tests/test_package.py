"""The package that others install, built and imported without any network."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile
from email.parser import BytesParser
from pathlib import Path

import build_backend
import gate_sidecar

FOLDER = Path(__file__).resolve().parents[1]
INFO = f"gate_sidecar-{gate_sidecar.__version__}.dist-info"
PROGRAM = """
import gate_sidecar.client, gate_sidecar.verify, sys
gate_sidecar.client.GateClient(tenant_id="acme", api_key="x")
print(gate_sidecar.__file__)
names = {name.split(".")[0] for name in sys.modules}
print(sorted(names - set(sys.stdlib_module_names) - {"__main__"}))
"""


class Package(unittest.TestCase):
    """What build_backend.py makes."""

    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def test_it_has_the_version_of_the_product(self) -> None:
        product = json.loads((FOLDER.parent / "package.json").read_text())
        self.assertEqual(gate_sidecar.__version__, product["version"])

    def test_the_wheel_has_every_module_its_licence_and_what_pyproject_says(self) -> None:
        with zipfile.ZipFile(self.folder / build_backend.build_wheel(str(self.folder))) as wheel:
            names = set(wheel.namelist())
            metadata = BytesParser().parsebytes(wheel.read(f"{INFO}/METADATA"))
        modules = {path.relative_to(FOLDER).as_posix() for path in FOLDER.glob("gate_sidecar/**/*.py")}
        others = {f"{INFO}/{name}" for name in ("METADATA", "WHEEL", "RECORD", "licenses/LICENSE")}
        self.assertEqual(names, modules | others | {"gate_sidecar/py.typed"})
        expected = {
            "Name": "gate-sidecar",
            "Version": gate_sidecar.__version__,
            "License-Expression": "Apache-2.0",
            "Requires-Python": ">=3.9",
        }
        self.assertEqual({name: metadata[name] for name in expected}, expected)
        self.assertIn("Typing :: Typed", metadata.get_all("Classifier") or [])
        self.assertEqual(metadata.get_payload(), (FOLDER / "README.md").read_text())

    def test_the_source_distribution_builds_the_same_wheel(self) -> None:
        name = build_backend.build_sdist(str(self.folder))
        with tarfile.open(self.folder / name) as archive:
            archive.extractall(self.folder)
        source = self.folder / name.replace(".tar.gz", "")
        build = "import build_backend; print(build_backend.build_wheel('.'))"
        wheel = self.python("-c", build, cwd=source).strip()
        build_backend.build_wheel(str(self.folder))
        self.assertEqual((source / wheel).read_bytes(), (self.folder / wheel).read_bytes())

    @unittest.skipUnless(hasattr(sys, "stdlib_module_names"), "from Python 3.10 on")
    def test_what_is_installed_stands_alone(self) -> None:
        site = self.folder / "site"
        with zipfile.ZipFile(self.folder / build_backend.build_wheel(str(self.folder))) as wheel:
            wheel.extractall(site)
        where, others = self.python("-S", "-c", PROGRAM, path=site, cwd=self.folder).splitlines()
        self.assertEqual(Path(where), site / "gate_sidecar" / "__init__.py")
        self.assertEqual(others, "['gate_sidecar']")

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
