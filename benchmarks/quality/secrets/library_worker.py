"""Runs where detect-secrets is installed: reads a JSON array of texts, writes what it finds in each."""

import json
import sys
import time

from detect_secrets.core.plugins.util import (  # type: ignore[import-not-found,unused-ignore]
    get_mapping_from_secret_type_to_class,
)
from detect_secrets.core.scan import scan_line  # type: ignore[import-not-found,unused-ignore]
from detect_secrets.settings import transient_settings  # type: ignore[import-not-found,unused-ignore]

OFF = ("Base64HighEntropyString", "HexHighEntropyString", "IPPublicDetector")


def main() -> None:
    """Scan each line of each text with every detector but those of entropy and addresses."""
    names = [one.__name__ for one in get_mapping_from_secret_type_to_class().values()]
    texts = json.load(sys.stdin)
    with transient_settings({"plugins_used": [{"name": name} for name in names if name not in OFF]}):
        begun = time.perf_counter()
        found = [any(list(scan_line(line)) for line in text.splitlines()) for text in texts]
        took = time.perf_counter() - begun
    json.dump({"found": found, "us_per_text": round(took / len(texts) * 1e6, 1)}, sys.stdout)


if __name__ == "__main__":
    main()
