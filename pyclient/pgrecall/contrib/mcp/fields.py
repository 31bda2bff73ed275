"""The arguments of the tools: types, bounds, descriptions and examples, as an agent reads them."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, PlainValidator, WithJsonSchema

from pgrecall.new_memories import MAX_CONTENT_BYTES
from pgrecall.query.timeframe import LONGEST_PHRASE

__all__ = [
    "After",
    "AsOf",
    "Category",
    "Content",
    "ExternalId",
    "Id",
    "Ids",
    "Importance",
    "IncludeSuperseded",
    "K",
    "MaxChars",
    "Namespace",
    "NewContent",
    "OccurredAt",
    "OfCategory",
    "OfSession",
    "OfSpeaker",
    "OldestFirst",
    "OnConflict",
    "OwnOrigin",
    "Query",
    "Sensitive",
    "Session",
    "Since",
    "Speaker",
    "Successor",
    "Tags",
    "TagsAny",
    "Timeframe",
    "Title",
    "Until",
    "Useful",
    "Versions",
]

_LONGEST_QUERY = 16_384


def _moment(value: Any) -> datetime:
    # pydantic's own type takes '2026' for a number of seconds since 1970.
    try:
        return datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise ValueError("not an ISO 8601 time such as 2026-05-17 or 2026-05-17T09:30:00+02:00") from None


_Time = Annotated[
    datetime,
    PlainValidator(_moment),
    WithJsonSchema(
        {"type": "string", "format": "date-time", "examples": ["2026-05-17", "2026-05-17T09:30:00+02:00"]}
    ),
]


def _worded(value: str) -> str:
    if not value.strip():
        raise ValueError("must hold words")
    return value


Content = Annotated[
    str,
    Field(
        max_length=MAX_CONTENT_BYTES,
        description="The text. One fact or event that can be understood on its own: names instead of "
        "pronouns, dates instead of 'yesterday'.",
        examples=[
            "Priya takes her vacation in August.",
            "The staging database moved to host db7 on 2026-05-17.",
        ],
    ),
]
NewContent = Annotated[
    str,
    Field(max_length=MAX_CONTENT_BYTES, description="The new text, complete; an empty one gives none."),
]
Title = Annotated[str | None, Field(description="A short name for it.", examples=["Priya's vacation"])]
Category = Annotated[
    str | None, Field(description="One word for its kind.", examples=["person", "decision", "preference"])
]
Tags = Annotated[
    list[str] | None,
    Field(
        description="Labels: names of people, projects, things it is about.", examples=[["Priya", "vacation"]]
    ),
]
Importance = Annotated[
    float | None, Field(ge=0, le=1, description="How much it matters, 0 to 1; a half if not given.")
]
OccurredAt = Annotated[
    _Time | None,
    Field(description="When it happened or began to hold, ISO 8601; without a zone it is UTC."),
]
Sensitive = Annotated[
    bool,
    Field(
        description="true for what must stay private, such as health: it is never embedded or sent to a "
        "model, and these tools do not return it unless the server was started to. false changes nothing."
    ),
]
Speaker = Annotated[str | None, Field(description="Who said it.", examples=["Priya"])]
Session = Annotated[str | None, Field(description="The conversation or document it belongs to.")]
ExternalId = Annotated[
    str | None,
    Field(
        description="An id of your own, unique in the namespace: storing it again makes no second memory.",
        examples=["ticket-4711"],
    ),
]
OnConflict = Annotated[
    Literal["error", "keep"],
    Field(description="If external_id belongs to another text: refuse, or keep what is stored."),
]
OwnOrigin = Annotated[
    Literal["web", "tool", "import", "agent"],
    Field(description="Where the text comes from: agent is what you were told or conclude."),
]
Id = Annotated[
    int, Field(ge=1, description="The memory's id, from memory_store or memory_recall.", examples=[42])
]
Ids = Annotated[
    list[int] | None,
    Field(
        max_length=100, description="The memories to explain, returned or not; without it, those returned."
    ),
]
Useful = Annotated[
    bool, Field(description="true if it answered the question, false if it was returned and did not help.")
]
Successor = Annotated[
    int | None, Field(ge=1, description="An existing memory that holds now, instead of content.")
]
Query = Annotated[
    str,
    Field(
        min_length=1,
        max_length=_LONGEST_QUERY,
        description="The question or topic, in plain words; names and identifiers help.",
        examples=["When is Priya away?", "staging database host"],
    ),
    AfterValidator(_worded),
]
K = Annotated[int, Field(ge=1, le=100, description="How many memories at most.")]
MaxChars = Annotated[
    int,
    Field(
        ge=100, le=MAX_CONTENT_BYTES, description="Characters of each memory at most; longer ones are cut."
    ),
]
Timeframe = Annotated[
    str | None,
    Field(
        max_length=LONGEST_PHRASE,
        description="Only what happened then or speaks of then, in words.",
        examples=["last week", "in March 2026", "since Monday", "2026-05-01/2026-05-31"],
    ),
]
AsOf = Annotated[
    _Time | None,
    Field(
        description="What was known at that time, ISO 8601: what was stored later is left out, and what was "
        "superseded later counts as it did then."
    ),
]
TagsAny = Annotated[
    list[str] | None, Field(description="Only memories with one of these tags.", examples=[["vacation"]])
]
OfCategory = Annotated[
    str | None, Field(description="Only memories of this category.", examples=["decision"])
]
OfSession = Annotated[str | None, Field(description="Only memories of this conversation or document.")]
OfSpeaker = Annotated[str | None, Field(description="Only what this person said.", examples=["Priya"])]
Since = Annotated[_Time | None, Field(description="Only memories from this time on, ISO 8601.")]
Until = Annotated[_Time | None, Field(description="Only memories before this time, ISO 8601.")]
After = Annotated[
    int | None, Field(ge=1, description="The `after` of the page before; without it, the first page.")
]
OldestFirst = Annotated[bool, Field(description="true lists the oldest first.")]
Versions = Annotated[int, Field(ge=1, le=100, description="How many versions at most; the latest count.")]
IncludeSuperseded = Annotated[
    bool, Field(description="true also returns what no longer holds; superseded_by then names what does.")
]
Namespace = Annotated[
    str | None,
    Field(
        description="The namespace; without it, all that the server reads, and the first to store in.",
        examples=["project-x"],
    ),
]
