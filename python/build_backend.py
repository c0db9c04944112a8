"""Builds the package by PEP 517 with the standard library alone, so that a build downloads nothing.

The wheel and the source distribution hold the same bytes whenever they are built.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import re
import tarfile
import zipfile
from pathlib import Path
from typing import Any, Dict, List, Optional

ROOT = Path(__file__).resolve().parent
_SETTING = re.compile(r'^([\w-]+) = ("[^"]*"|\[[^\]]*\])$', re.MULTILINE)


def build_wheel(
    wheel_directory: str, config_settings: Any = None, metadata_directory: Optional[str] = None
) -> str:
    """Write the wheel (PEP 427), and return its name."""
    info = f"gate_sidecar-{_version()}.dist-info"
    files = {**_package_files(), f"{info}/licenses/LICENSE": (ROOT / "LICENSE").read_bytes()}
    files[f"{info}/METADATA"] = _metadata()
    files[f"{info}/WHEEL"] = (
        b"Wheel-Version: 1.0\nGenerator: gate-sidecar\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    record = [f"{name},sha256={_digest(data)},{len(data)}" for name, data in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,", ""]).encode()
    name = f"gate_sidecar-{_version()}-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path)
            entry.external_attr = 0o644 << 16
            wheel.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return name


def build_sdist(sdist_directory: str, config_settings: Any = None) -> str:
    """Write the source distribution, and return its name."""
    base = f"gate_sidecar-{_version()}"
    files = {**_package_files(), "PKG-INFO": _metadata()}
    for name in ("LICENSE", "README.md", "build_backend.py", "pyproject.toml"):
        files[name] = (ROOT / name).read_bytes()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path, data in files.items():
            entry = tarfile.TarInfo(f"{base}/{path}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    (Path(sdist_directory) / f"{base}.tar.gz").write_bytes(gzip.compress(packed.getvalue(), mtime=0))
    return f"{base}.tar.gz"


def _package_files() -> Dict[str, bytes]:
    paths = [*ROOT.glob("gate_sidecar/**/*.py"), ROOT / "gate_sidecar/py.typed"]
    return {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in sorted(paths)}


def _version() -> str:
    text = (ROOT / "gate_sidecar/__init__.py").read_text("utf-8")
    found = re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    assert found is not None
    return found[1]


def _metadata() -> bytes:
    """Return the core metadata 2.4: what `[project]` says, and README.md as the description."""
    # A text or a list of texts is written alike in TOML and JSON, but for a comma at the end.
    settings: Dict[str, Any] = {
        name: json.loads(re.sub(r",\s*\]$", "]", value))
        for name, value in _SETTING.findall((ROOT / "pyproject.toml").read_text("utf-8"))
    }
    lines: List[str] = [
        "Metadata-Version: 2.4",
        f"Name: {settings['name']}",
        f"Version: {_version()}",
        f"Summary: {settings['description']}",
        f"Keywords: {','.join(settings['keywords'])}",
        f"License-Expression: {settings['license']}",
        "License-File: LICENSE",
        *(f"Classifier: {one}" for one in settings["classifiers"]),
        f"Requires-Python: {settings['requires-python']}",
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join([*lines, "", (ROOT / "README.md").read_text("utf-8")]).encode()


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
