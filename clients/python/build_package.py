"""Writes the wheel and the source distribution, with the standard library alone.

`python3 build_package.py FOLDER` writes both; the same sources give the same bytes. It is also the
build backend of pyproject.toml (PEP 517), so that `pip install` of this folder downloads nothing.
"""

import gzip
import hashlib
import io
import re
import sys
import tarfile
import tomllib
import zipfile
from base64 import urlsafe_b64encode
from pathlib import Path

HERE = Path(__file__).parent
PROJECT = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
SOURCES = sorted((HERE / "subreport").glob("*.py")) + [HERE / "subreport/py.typed"]
VERSION = re.search(r'^__version__ = "(.+)"$', (HERE / "subreport/__init__.py").read_text(), re.M)[1]
NAME = f"{PROJECT['name']}-{VERSION}"
INFO = f"{NAME}.dist-info"


def license_text():
    """The license, which is in the root of the repository and beside this file in an sdist."""
    own = HERE / "LICENSE"
    return (own if own.exists() else HERE / "../../LICENSE").read_bytes()


def metadata():
    """Core metadata 2.4."""
    head = {
        "Metadata-Version": "2.4",
        "Name": PROJECT["name"],
        "Version": VERSION,
        "Summary": PROJECT["description"],
        "License-Expression": PROJECT["license"],
        "License-File": "LICENSE",
        "Requires-Python": PROJECT["requires-python"],
        "Description-Content-Type": "text/markdown",
    }
    lines = [f"{name}: {value}" for name, value in head.items()]
    return ("\n".join(lines) + "\n\n" + (HERE / "README.md").read_text()).encode()


def wheel_files():
    """The names and bytes of the wheel, RECORD last."""
    tags = "Wheel-Version: 1.0\nGenerator: subreport\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files = {
        **{f"subreport/{file.name}": file.read_bytes() for file in SOURCES},
        f"{INFO}/METADATA": metadata(),
        f"{INFO}/WHEEL": tags.encode(),
        f"{INFO}/licenses/LICENSE": license_text(),
    }
    record = [f"{name},sha256={hash_of(text)},{len(text)}" for name, text in files.items()]
    return {**files, f"{INFO}/RECORD": "\n".join([*record, f"{INFO}/RECORD,,", ""]).encode()}


def hash_of(content):
    """As RECORD has it: base64 without padding."""
    return urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def sdist_files():
    """The names and bytes of the source distribution."""
    own = [*SOURCES, HERE / "README.md", HERE / "build_package.py", HERE / "pyproject.toml"]
    files = {str(file.relative_to(HERE)): file.read_bytes() for file in own}
    return {**files, "LICENSE": license_text(), "PKG-INFO": metadata()}


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Writes the wheel; returns its name."""
    name = f"{NAME}-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in wheel_files().items():
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, content)
    return name


def build_sdist(sdist_directory, config_settings=None):
    """Writes the source distribution; returns its name."""
    name = f"{NAME}.tar.gz"
    with (
        (Path(sdist_directory) / name).open("wb") as file,
        gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for path, content in sorted(sdist_files().items()):
            entry = tarfile.TarInfo(f"{NAME}/{path}")
            entry.size, entry.mode = len(content), 0o644
            archive.addfile(entry, io.BytesIO(content))
    return name


if __name__ == "__main__":
    folder = sys.argv[1]
    Path(folder).mkdir(parents=True, exist_ok=True)
    for built in (build_sdist(folder), build_wheel(folder)):
        print(f"{folder}/{built}: {(Path(folder) / built).stat().st_size / 1000:.1f} kB")
