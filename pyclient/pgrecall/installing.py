"""What to run to install an extra: from an index, a checkout or a wheel, as pgrecall itself was installed."""

from __future__ import annotations

__all__ = ["install_command"]


def install_command(*extras: str) -> str:
    """Return the command that installs extras.

    It names the source that pgrecall was installed from, as pip and uv note it (PEP 610), while that is still
    there; without such a note, or in a checkout that was never installed, the package's name.

    Args:
        extras: As in pyproject.toml, such as `embedder`.
    """
    # Imported here: every command imports this module, few print a hint.
    import json
    from importlib.metadata import PackageNotFoundError, distribution
    from pathlib import Path
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    wanted = f"[{','.join(extras)}]"
    try:
        noted = distribution("pgrecall").read_text("direct_url.json")
    except PackageNotFoundError:
        noted = None
    source = json.loads(noted) if noted else {}
    url = source.get("url", "")
    path = Path(url2pathname(urlsplit(url).path)) if url.startswith("file:") else None
    if "vcs_info" in source:
        commit = source["vcs_info"]["commit_id"]
        return f"pip install 'pgrecall{wanted} @ {source['vcs_info']['vcs']}+{url}@{commit}'"
    if path is None or not path.exists():
        return f"pip install 'pgrecall{wanted}'"
    if path.is_file():
        return f"pip install 'pgrecall{wanted} @ {url}'"
    constraints = path / "constraints.txt"
    options = f"--constraint '{constraints}' " if constraints.exists() else ""
    editable = "-e " if source.get("dir_info", {}).get("editable") else ""
    return f"pip install {options}{editable}'{path}{wanted}'"
