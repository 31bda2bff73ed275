"""Names from lists: a namespace's own keywords and patterns, and a few well-known technologies."""

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from pgrecall_extract.base import Mention
from pgrecall_extract.errors import InvalidRules

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["BUILT_IN_RULES", "MOST_PATTERNS", "EntityRules", "Gazetteer", "gazetteer_of"]

MOST_PATTERNS: Final = 200
"""Patterns that one gazetteer takes."""

_WINDOW = 60
_MOST_WAYS = 250_000
_ENOUGH = 10_000.0  # of ways, where counting further would only overflow
_LONGEST_PATTERN = 500
_CJK = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
# Chinese and Japanese write no blanks: every character is a token there, and a word boundary.
_TOKEN = re.compile(rf"[{_CJK}]|[^\W{_CJK}]+|[^\w\s]")
_WORD_START = re.compile(rf"[{_CJK}]|(?<![^\W{_CJK}])[^\W{_CJK}]|(?<!\S)[^\w\s]")


@dataclass(frozen=True, slots=True)
class EntityRules:
    """Names of one type that a namespace knows.

    Attributes:
        type: One of ENTITY_TYPES or a type of the namespace's own.
        keywords: Names, found as whole words in any case and with any white space between their words.
        patterns: Regular expressions of Python's `re`; the case counts. A match begins where a word begins,
            ends where a word ends and has at most 60 characters; a group called "name" narrows it.
        case_sensitive: Whether keywords must be written as they are here.
    """

    type: str
    keywords: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    case_sensitive: bool = False


_TECHNOLOGIES = """
    PostgreSQL|Postgres|pgvector|MySQL|MariaDB|SQLite|MongoDB|Redis|Elasticsearch|OpenSearch|DuckDB
    |ClickHouse|BigQuery|DynamoDB|Apache Kafka|Apache Spark|RabbitMQ|Kubernetes|Docker|Docker Compose
    |Podman|Terraform|Ansible|Nginx|GitHub Actions|GitLab CI|Prometheus|Grafana|OpenTelemetry|Linux
    |Ubuntu|Debian|macOS|FreeBSD|JavaScript|TypeScript|Node.js|NumPy|PyTorch|TensorFlow|scikit-learn
    |spaCy|Hugging Face|Django|FastAPI|Kotlin|Haskell|C++|C#|GraphQL|gRPC|WebAssembly|OpenSSL|OAuth
    |Tailwind CSS|Vue.js|Next.js|LangChain|LlamaIndex|VS Code|ChatGPT|Visual Studio Code|IntelliJ
    |Jupyter|Alembic|SQLAlchemy|Pydantic|pytest|mypy|PgBouncer|Patroni|Apache Airflow|Apache Flink
    |Databricks|CircleCI|ArgoCD|HAProxy|Traefik|Spring Boot|Ruby on Rails|Laravel
    |Symfony|SvelteKit|Webpack|ESLint|npm|pnpm|Deno|MATLAB|PowerPoint|Photoshop|Lightroom|Firefox
    |iOS|iPadOS|iPhone|iPad|MacBook|MacBook Pro|MacBook Air|AirPods|Apple Watch|Raspberry Pi|Arduino
    |PlayStation|Xbox|Nintendo Switch|Chromebook|ThinkPad|Home Assistant|WhatsApp|Strava|Spotify
    |YouTube|Gmail|Google Maps|Google Docs|Google Sheets|Google Drive|Google Calendar|Google Cloud
    |Microsoft Teams|OneDrive|SharePoint|Salesforce|HubSpot|Zapier|Twilio|Supabase|Firebase|Vercel|Netlify
    |Heroku|Cloudflare|Datadog|Splunk|PagerDuty|HashiCorp Vault|GitHub|GitLab|Bitbucket|Jira|Trello
    |Todoist|Evernote|LaTeX|Overleaf|Zotero|SciPy|Matplotlib|Keras|XGBoost|LightGBM
    |Claude Code|Windows Server|Raspbian|Arch Linux|Alpine Linux|systemd|OpenShift|Argo CD
    |CockroachDB|TimescaleDB|Neo4j|InfluxDB|Memcached|Meilisearch|Qdrant|Weaviate|Milvus
    |RStudio|PyCharm|Xcode|Android Studio|Neovim|Tailscale|WireGuard|OpenVPN
    |NetBSD|OpenBSD|QuickBooks|TurboTax|AutoCAD|SolidWorks|InDesign
    |MySQL Workbench|pgAdmin|DBeaver|Power BI|Metabase|Looker Studio|Apache Superset|Garmin Connect|Fitbit
    |PostGIS|psycopg|uvicorn|gunicorn|asyncio|aiohttp|httpx|tmux|zsh|GnuPG
"""
# Each of these is a common word or a name as well; the capital helps.
_CAPITAL_TECHNOLOGIES = (
    "Python|Golang|Git|React|Angular|Flask|PHP|HTML|CSS|SQL|AWS|Azure|Android|Vim|Emacs|Rust|Java|Scala"
    "|Clojure|Erlang|Perl|Lua|Airflow|Kafka|Istio|Svelte|Vite|Excel"
    "|Slack|Zoom|Notion|Sentry|Snowflake|Llama|GPT|BERT|Polars|Dropbox|Instagram"
    "|Telegram|Kotlin|Fortran|COBOL|dbt|GCP|NixOS|Kindle|Asana|Jenkins|Windows 10|Windows 11"
)

BUILT_IN_RULES: Final = (
    EntityRules("TECHNOLOGY", tuple(name.strip() for name in _TECHNOLOGIES.split("|"))),
    EntityRules("TECHNOLOGY", tuple(_CAPITAL_TECHNOLOGIES.split("|")), case_sensitive=True),
)
"""Well-known technologies whose names say nothing else, or only with a small letter."""


@dataclass(slots=True)
class _Node:
    children: dict[str, _Node]
    keyword: tuple[str, str | None] | None = None


class Gazetteer:
    """Lists of names, ready to be looked up.

    Finding costs one look-up a word however many keywords there are. A custom pattern is tried at every word,
    and is refused when loaded if there are too many ways in which it could match 60 characters.

    Args:
        rules: The lists. Where two have the same keyword, the first counts.
        confidence: The confidence of what they find.

    Raises:
        InvalidRules: A keyword is empty, or a pattern cannot be compiled or may take too long.
    """

    def __init__(self, rules: Iterable[EntityRules], confidence: float = 0.95) -> None:
        self._confidence = confidence
        self._root = _Node({})
        self._patterns: list[tuple[str, re.Pattern[str]]] = []
        for rule in rules:
            for keyword in rule.keywords:
                self._add_keyword(rule.type, keyword.strip(), rule.case_sensitive)
            for number, pattern in enumerate(rule.patterns, 1):
                self._patterns.append((rule.type, _checked(pattern, f"pattern {number} of type {rule.type}")))
        if len(self._patterns) > MOST_PATTERNS:
            raise InvalidRules(
                f"there are more than {MOST_PATTERNS} patterns", hint="Join them with | or use keywords."
            )

    def find(self, text: str) -> Iterator[Mention]:
        """Yield the names of the lists in a text, the longest at each place.

        Args:
            text: Any text.
        """
        if self._root.children:
            yield from self._find_keywords(text)
        for type_, pattern in self._patterns:
            yield from self._find_pattern(text, type_, pattern)

    def _add_keyword(self, type_: str, keyword: str, case_sensitive: bool) -> None:
        tokens = _TOKEN.findall(keyword.casefold())
        if not tokens:
            raise InvalidRules(f"a keyword of type {type_} is empty", hint="Remove it.")
        node = self._root
        for token in tokens:
            node = node.children.setdefault(token, _Node({}))
        if node.keyword is None:
            node.keyword = (type_, keyword if case_sensitive else None)

    def _find_keywords(self, text: str) -> Iterator[Mention]:
        tokens = [(match[0].casefold(), match.start(), match.end()) for match in _TOKEN.finditer(text)]
        first = self._root.children
        position = 0
        while position < len(tokens):
            node = first.get(tokens[position][0])
            if node is None:
                position += 1
                continue
            start, best, after = tokens[position][1], None, position + 1
            ahead = position
            while node is not None:
                end = tokens[ahead][2]
                if node.keyword is not None and node.keyword[1] in {None, text[start:end]}:
                    best, after = (node.keyword[0], end), ahead + 1
                ahead += 1
                node = node.children.get(tokens[ahead][0]) if ahead < len(tokens) else None
            if best is not None:
                yield Mention(text[start : best[1]], best[0], start, best[1], self._confidence, "listed")
            position = after

    def _find_pattern(self, text: str, type_: str, pattern: re.Pattern[str]) -> Iterator[Mention]:
        group: str | int = "name" if "name" in pattern.groupindex else 0
        taken = 0
        for place in _WORD_START.finditer(text):
            if place.start() < taken:
                continue
            match = pattern.match(text, place.start(), min(len(text), place.start() + _WINDOW))
            if match is None or not match[group] or not _ends_word(text, match.end()):
                continue
            name = match[group]
            start = match.start(group) + len(name) - len(name.lstrip())
            name = name.strip()
            if name:
                yield Mention(name, type_, start, start + len(name), self._confidence, "pattern")
            taken = match.end()


@lru_cache(maxsize=256)
def gazetteer_of(rules: tuple[EntityRules, ...]) -> Gazetteer:
    """Return the gazetteer of some rules, built once.

    Args:
        rules: The rules of a namespace.

    Raises:
        InvalidRules: As Gazetteer does.
    """
    return Gazetteer(rules)


def _ends_word(text: str, end: int) -> bool:
    return end == len(text) or not (text[end - 1].isalnum() and text[end].isalnum())


def _checked(pattern: str, which: str) -> re.Pattern[str]:
    """Compile a pattern that cannot take long.

    Raises:
        InvalidRules: It cannot be compiled, is too long, or can match in too many ways.
    """
    if len(pattern) > _LONGEST_PATTERN:
        raise InvalidRules(f"{which} is longer than {_LONGEST_PATTERN} characters", hint="Use keywords.")
    try:
        # The parser behind re.compile(): not public, yet the one thing that says what a pattern may do.
        parsed = importlib.import_module("re._parser").parse(pattern)
        compiled = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        # Without what it quotes of the pattern: a daemon logs this.
        reason = re.sub(r" ?'.*'", "", str(error))
        raise InvalidRules(
            f"{which} is no regular expression: {reason}", hint="See Python's re module."
        ) from error
    if _ways(parsed) > _MOST_WAYS:
        raise InvalidRules(
            f"{which} could take too long",
            hint="Use at most three open repeats such as \\w+, none inside another, or possessive ones.",
        )
    return compiled


def _ways(sequence: Any) -> float:
    """Return an upper bound of the ways in which a parsed pattern can match _WINDOW characters."""
    total = 1.0
    for operation, argument in sequence:
        match str(operation):
            case "MAX_REPEAT" | "MIN_REPEAT":
                low, high, item = argument
                one = _ways(item)
                choices = max(1, min(int(high), _WINDOW) - min(int(low), _WINDOW) + 1)
                total *= choices if one == 1 else choices * min(one, _ENOUGH) ** min(int(high), _WINDOW)
            case "POSSESSIVE_REPEAT":
                # Nothing in it is tried again once it has matched; its own item is, each time.
                total *= 1 if _ways(argument[2]) == 1 else _ways(argument[2]) * _WINDOW
            case "BRANCH":
                total *= sum(_ways(branch) for branch in argument[1])
            case "SUBPATTERN":
                total *= _ways(argument[3])
            case "ATOMIC_GROUP":
                total *= _ways(argument)
            case "ASSERT" | "ASSERT_NOT":
                total *= _ways(argument[1])
            case "GROUPREF_EXISTS":
                total *= _ways(argument[1]) + (_ways(argument[2]) if argument[2] else 1)
            case _:
                pass
        total = min(total, _ENOUGH**2)
    return total
