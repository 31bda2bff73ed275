"""What is installed is locked, and nothing that runs with pgrecall is under the GPL."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tools.licences import licence
from tools.lock import pins

ROOT = Path(__file__).resolve().parents[2]
LIBRARIES_UNDER_THE_LGPL = {"psycopg", "psycopg-binary", "psycopg-pool"}


@pytest.mark.parametrize("tool", ["lock.py", "licences.py"])
def test_the_generated_files_are_up_to_date(tool: str) -> None:
    command = [sys.executable, str(ROOT / "tools" / tool), "--check"]
    checked = subprocess.run(command, capture_output=True, text=True, timeout=180, check=False)
    assert checked.returncode == 0, checked.stderr


def test_what_runs_with_pgrecall_is_under_no_gpl() -> None:
    found = {package: licence(package) or "" for package in pins("runtime")}
    assert sum(map(bool, found.values())) > 100
    copyleft = {name for name, text in found.items() if re.search(r"GPL|General Public", text)}
    assert copyleft == LIBRARIES_UNDER_THE_LGPL
    assert all(re.search(r"LGPL|Lesser", found[name]) for name in copyleft)


@pytest.mark.parametrize("name", ["pip", "server-16", "dev", "runtime", "demo", "daemon", "cuda"])
def test_lock_files_name_no_address(name: str) -> None:
    text = (ROOT / "requirements" / f"{name}.txt").read_text()
    assert "://" not in text
    assert not re.search(r"(?m)^-", text)


def test_actions_and_images_are_pinned_by_digest() -> None:
    workflow = "".join(path.read_text() for path in (ROOT / ".github/workflows").iterdir())
    used = re.findall(r"uses: (\S+)", workflow)
    assert used
    assert all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action) for action in used)
    stages, images = set(), []
    for image, stage in re.findall(r"(?m)^FROM (\S+) AS (\S+)", (ROOT / "Dockerfile").read_text()):
        if image not in stages:
            images.append(image)
        stages.add(stage)
    assert len(images) == 2
    assert all(re.search(r"@sha256:[0-9a-f]{64}$", image) for image in images)
