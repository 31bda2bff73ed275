"""Names that their spelling gives away: paths, addresses, handles, identifiers, issues and versions.

Types, and why:

- A path is a FILE, and so is an address, as it is written: both are opened. A query string is cut off where
  it may hold a key, and a bare host ("example.org") is a CONCEPT.
- A handle is a PERSON, without its "@", so that it meets the name in other memories.
- A code identifier is a TECHNOLOGY: functions, classes, settings and variables are parts of some program.
- An issue is a PROJECT, and so is its repository, which is mentioned too because more memories name it. A
  bare "#12" counts only after a word such as "issue".
- A capitalised word with a version behind it is a TECHNOLOGY; `versions` adds the version.

Confidence: .9 path, address, repository, issue with a repository; .8 handle, bare file name, issue key, call;
.7 identifier with underscores or dots, version; .6 host, inner capitals, "issue #12".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pgrecall_extract.base import Mention
from pgrecall_extract.secrets import looks_secret
from pgrecall_extract.words import CALENDAR, COMMON, word_set

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["find_patterns"]

# A token ends where no path, address or identifier goes on. Everything below looks at one token of bounded
# length, so that the work stays in proportion to the text whatever the text is.
_TOKEN = re.compile(r"[^\s\"“”‘’«»<>|`,;\[\]{}=*!?]+")
_SPECIAL = re.compile(r"[/\\@#_]|\w\.\w|[a-z0-9][A-Z]|\(\)|[A-Z]-\d|\w:\\")
_LONGEST_TOKEN = 300
_LONGEST_URL = 2000
_MARKS = ".:'’)(-~…"
_URL_MARKS = _MARKS + ",;!?*]"
# What goes on an address where a token ends.
_QUERY = re.compile(r"[?;,=&*!][^\s\"“”‘’«»<>|`{}]{0,2000}")

_URL = re.compile(
    r"(?:https?|git|ssh|ftp)://(?:[^\s/@]{0,200}@)?([\w.-]{3,200})(?::\d{1,5})?(/\S*)?"
    r"|(www\.[\w.-]{3,200})(/\S*)?"
)
_KEY_IN_QUERY = re.compile(
    r"[?&#](?:[\w-]{0,40}(?:token|key|secret|password|pwd|auth|sig|signature|session|code|credential)s?)(?:=|$)",
    re.IGNORECASE,
)

_EXTENSIONS: Final = word_set("""
    py pyi ipynb js mjs cjs jsx ts tsx rs go c h cc cpp hpp java kt scala rb php cs swift sql sh bash
    zsh ps1 bat lua r jl html htm css scss vue svelte json jsonl yaml yml toml ini cfg conf env lock xml
    csv tsv parquet md mdx rst txt tex pdf doc docx odt xls xlsx ods ppt pptx log diff patch proto
    graphql tf gradle cmake png jpg jpeg gif svg webp mp3 mp4 wav zip tar gz whl jar exe dll db sqlite
    bak ics eml
""")
_BARE_FILES: Final = word_set("""
    Makefile Dockerfile Procfile Jenkinsfile Vagrantfile Rakefile Gemfile .gitignore .gitattributes
    .dockerignore .env .bashrc .zshrc .editorconfig .npmrc .vimrc
""")
_TOP_DOMAINS: Final = word_set("""
    com org net io dev edu gov app info eu uk de fr es it ch at nl se no ai cloud
""")
_WINDOWS = re.compile(r"(?:[A-Za-z]:[\\/]|\\\\[\w.-]+\\)[\w.$ \\/-]*[\w$-]")
_UNIX = re.compile(r"(?:~|\.{1,2})?(?:/[\w.@+~-]+)+/?")
_RELATIVE = re.compile(r"[\w@.+-]+(?:/[\w.@+-]+)*\.(\w{1,8})")
_LINE_NUMBER = re.compile(r"(?::\d{1,6}){1,2}$")
_HOST = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+([a-z]{2,6})", re.IGNORECASE)
_JS_FRAMEWORK = re.compile(r"[A-Z][A-Za-z]+\.js")

_HANDLE = re.compile(r"@([A-Za-z][\w-]{1,38})")
_SCOPED_PACKAGE = re.compile(r"@[a-z][\w-]*/[a-z][\w.-]*")
_DECORATORS: Final = word_set("""
    property staticmethod classmethod dataclass override abstractmethod cached_property cache lru_cache
    overload contextmanager wraps final pytest media import keyframes charset param returns return
    throws deprecated Override Test Autowired Component todo here everyone channel all
""")
_ISSUE_KEY = re.compile(r"([A-Z][A-Z0-9]{1,9})-\d{1,6}")
_NO_PROJECTS: Final = word_set("""
    COVID UTF ISO SHA MD RFC GPT AES RSA SARS IEC IEEE EN DIN MP HTTP USB WW II CO H
""")
_CVE = re.compile(r"CVE-\d{4}-\d{4,7}")
_REPOSITORY_ISSUE = re.compile(r"([A-Za-z0-9][\w-]{0,38}/[\w.-]{1,100})#\d{1,7}")
_NUMBER = re.compile(r"#\d{1,7}")
_ISSUE_WORD = re.compile(
    r"(?:issues?|prs?|pull requests?|tickets?|bugs?|mrs?|merge requests?|fix(?:e[sd])?|clos(?:e[sd]?|ing)"
    r"|resolve[sd]?)[ \t]?$",
    re.IGNORECASE,
)

_CALL = re.compile(r"([A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)*)\(.*")
_SNAKE = re.compile(r"_{0,2}[A-Za-z][A-Za-z0-9]*(?:_+[A-Za-z0-9]+)+_{0,2}|__?[A-Za-z][A-Za-z0-9]+_{0,2}")
_DOTTED = re.compile(r"[A-Za-z_]\w+(?:\.[A-Za-z_]\w+)+")
_INNER_CAPITALS = re.compile(
    r"[a-z]+[0-9]*(?:[A-Z][a-z0-9]+)+|(?:[A-Z]+[a-z0-9]+){2,}[A-Z]*|[A-Z][a-z0-9]+[A-Z]{2,}"
    r"|[A-Z]{2,}[a-z]{3,}"
)
_SURNAME = re.compile(r"(?:Mc|Mac|De|Di|Du|La|Le|Van|Von|Fitz|O|St)[A-Z][a-z]+")
_VERSION = re.compile(
    r"(?<![\w.])([A-Z][A-Za-z+#]{1,30})[ -](?:[Vv]ersion )?(v\d{1,4}(?:\.\d{1,4}){0,3}"
    r"|\d{1,4}(?:\.\d{1,4}){1,3})(?![\w%]|\.\d|,\d)"
)
_NO_PRODUCTS: Final = (
    COMMON
    | CALENDAR
    | word_set("""
    section chapter figure table version article part page act rule step route grade psalm mark luke
    john matthew acts genesis
""")
)


def find_patterns(text: str) -> Iterator[Mention]:
    """Yield the names in a text that their spelling gives away.

    Args:
        text: Any text. The work grows in proportion to its length.
    """
    taken = 0
    for token in _TOKEN.finditer(text):
        word = token[0]
        if token.start() < taken:
            continue
        if "://" in word or word.startswith("www."):
            rest = _QUERY.match(text, token.end())
            taken = token.end() if rest is None else rest.end()
            word = text[token.start() : taken]
        if _SPECIAL.search(word) is None and word not in _BARE_FILES:
            continue
        if len(word) > _LONGEST_TOKEN and "://" not in word[:12]:
            continue
        yield from _classify(text, word[:_LONGEST_URL], token.start())
    for match in _VERSION.finditer(text):
        name = match[1]
        if name.lower() in _NO_PRODUCTS:
            continue
        several_dots = match[2].startswith("v") or match[2].count(".") > 1
        if several_dots or any(map(str.isupper, name[1:])):
            yield Mention(name, "TECHNOLOGY", match.start(1), match.end(1), 0.7, "version")


def _classify(text: str, word: str, start: int) -> Iterator[Mention]:
    """Yield what one token names; nothing for most."""
    left = len(word) - len(word.lstrip("('’"))
    word = word[left:]
    start += left
    url = _URL.match(word)
    if url is not None:
        bare = word.rstrip(_URL_MARKS)
        if bare.count("(") > bare.count(")") and word[len(bare) :].startswith(")"):
            bare += ")"  # "/Go_(game)"
        yield from _address(bare, url, start)
        return
    call = _CALL.fullmatch(word)
    if call is not None and "()" in word and not looks_secret(call[1]):
        yield Mention(call[1], "TECHNOLOGY", start, start + call.end(1), 0.8, "identifier")
        return
    if word.endswith(("'s", "’s")):
        word = word[:-2]
    word = _LINE_NUMBER.sub("", word.rstrip(_MARKS))
    if len(word) < 2 or looks_secret(word):
        return
    for find in (_path, _reference, _identifier):
        found = find(text, word, start)
        if found:
            yield from found
            return


def _address(word: str, url: re.Match[str], start: int) -> Iterator[Mention]:
    """Yield an address; from its host on where a user stands before that."""
    host = (url[1] or url[3]).rstrip(".")
    if "." not in host or not host.rsplit(".", 1)[1].isalpha():
        return
    begin = url.start(1) if url[1] and word[url.start(1) - 1] == "@" else 0
    key = _KEY_IN_QUERY.search(word)
    name = word[begin:] if key is None else re.split(r"[?#]", word[begin:], maxsplit=1)[0]
    yield Mention(name, "FILE", start + begin, start + begin + len(name), 0.9, "url")


def _path(_text: str, word: str, start: int) -> list[Mention]:
    """Return a file's path or name, or a host's name."""
    end = start + len(word)
    if word in _BARE_FILES:
        return [Mention(word, "FILE", start, end, 0.8, "path")]
    if "@" in word and "/" not in word:
        return []
    if _WINDOWS.fullmatch(word):
        return [Mention(word, "FILE", start, end, 0.9, "path")]
    if _UNIX.fullmatch(word):
        several = word.count("/") - word.endswith("/") > 1 or word.startswith(("~", "."))
        known = word.rpartition(".")[2].lower() in _EXTENSIONS
        return [Mention(word, "FILE", start, end, 0.9, "path")] if several or known else []
    relative = _RELATIVE.fullmatch(word)
    if relative is None or word.startswith("@"):
        return []
    extension = relative[1].lower()
    if _JS_FRAMEWORK.fullmatch(word):
        return [Mention(word, "TECHNOLOGY", start, end, 0.8, "listed")]
    if extension in _EXTENSIONS and not relative[1][1:].isupper() | relative[1].istitle():
        return [Mention(word, "FILE", start, end, 0.9 if "/" in word else 0.8, "path")]
    host = _HOST.fullmatch(word)
    if host is not None and host[1] in _TOP_DOMAINS and len(word.split(".")[-2]) > 1:
        return [Mention(word, "CONCEPT", start, end, 0.6, "url")]
    return []


def _reference(text: str, word: str, start: int) -> list[Mention]:
    """Return a handle or an issue, with its repository."""
    end = start + len(word)
    handle = _HANDLE.fullmatch(word)
    if handle is not None:
        if handle[1] in _DECORATORS or (
            "_" in handle[1] and handle[1].islower() and text[end : end + 1] == "("
        ):
            return []
        return [Mention(handle[1], "PERSON", start + 1, end, 0.8, "handle")]
    if _SCOPED_PACKAGE.fullmatch(word):
        return [Mention(word, "TECHNOLOGY", start, end, 0.8, "identifier")]
    if _CVE.fullmatch(word):
        return [Mention(word, "CONCEPT", start, end, 0.9, "issue")]
    key = _ISSUE_KEY.fullmatch(word)
    if key is not None:
        return [] if key[1] in _NO_PROJECTS else [Mention(word, "PROJECT", start, end, 0.8, "issue")]
    issue = _REPOSITORY_ISSUE.fullmatch(word)
    if issue is not None:
        return [
            Mention(word, "PROJECT", start, end, 0.9, "issue"),
            Mention(issue[1], "PROJECT", start, start + issue.end(1), 0.9, "issue"),
        ]
    if _NUMBER.fullmatch(word) and _ISSUE_WORD.search(text[max(0, start - 20) : start]):
        return [Mention(word, "PROJECT", start, end, 0.6, "issue")]
    return []


def _identifier(text: str, word: str, start: int) -> list[Mention]:
    """Return an identifier of a program."""
    end = start + len(word)
    if _SNAKE.fullmatch(word) and len(word) > 3:
        return [Mention(word, "TECHNOLOGY", start, end, 0.7, "identifier")]
    dotted = _DOTTED.fullmatch(word)
    if dotted is not None:
        # "end.Next" is a missing blank: one dot alone makes no identifier.
        if word.count(".") > 1 or "_" in word:
            return [Mention(word, "TECHNOLOGY", start, end, 0.7, "identifier")]
        return []
    part_of_name = text[max(0, start - 1) : start] in {"-", "’", "'"}
    if (
        _INNER_CAPITALS.fullmatch(word)
        and not _SURNAME.fullmatch(word)
        and len(word) > 3
        and not part_of_name
    ):
        return [Mention(word, "TECHNOLOGY", start, end, 0.6, "identifier")]
    return []
