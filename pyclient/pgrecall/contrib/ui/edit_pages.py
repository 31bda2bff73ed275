"""The pages that change a memory: edit, supersede, forget, restore. Each asks before its form is posted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from starlette.responses import RedirectResponse

from pgrecall.errors import Conflict, InvalidInput, PgrecallError

from .context import page_context
from .memory_page import load
from .posted_form import read_posted
from .query_form import identity, moment

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from starlette.requests import Request
    from starlette.responses import Response

    from pgrecall.models import StoredMemory

    from .context import PageContext

Handler: TypeAlias = "Callable[[Request], Awaitable[Response]]"

TEXTS = ("content", "title", "category", "speaker", "session")
TIMES = ("occurred_at", "valid_from", "valid_to", "expires_at")
_ENDS = {"valid_to", "expires_at"}
"""The times that can be taken back."""


def written(memory: StoredMemory) -> dict[str, str]:
    """Return the fields of a memory as the form has them."""
    return {
        **{name: _lines(getattr(memory, name) or "") for name in TEXTS},
        **{name: "" if (at := getattr(memory, name)) is None else at.isoformat() for name in TIMES},
        "tags": "\n".join(memory.tags),
        "importance": f"{memory.importance:g}",
        "is_sensitive": "on" if memory.is_sensitive else "",
        "seen": memory.updated_at.isoformat(),
    }


def changes(memory: StoredMemory, given: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields that a form changes, as `Client.update` takes them.

    Raises:
        InvalidInput: A field cannot be read, or cannot be emptied.
    """
    before = written(memory)
    changed = {name: value for name, value in given.items() if value != before[name]}
    wanted: dict[str, Any] = {name: changed[name] for name in TEXTS if name in changed}
    for name in TIMES:
        if name in changed:
            wanted[name] = _time(name, changed[name])
    if "tags" in changed:
        wanted["tags"] = [line.strip() for line in changed["tags"].split("\n") if line.strip()]
    if "importance" in changed:
        try:
            wanted["importance"] = float(changed["importance"])
        except ValueError:
            raise InvalidInput("the importance is not a number", hint="Write 0 to 1.") from None
    if "is_sensitive" in changed:
        wanted["is_sensitive"] = bool(changed["is_sensitive"])
    return wanted


async def edit(request: Request) -> Response:
    """Show the form with a memory's fields."""
    context = page_context(request)
    stored = await load(context, request)
    return context.page("edit.html", memory=stored, given=written(stored))


async def edited(request: Request) -> Response:
    """Change a memory, unless it has been changed since the form was shown."""
    context = page_context(request)
    stored, given = await _posted(context, request)
    fields = {name: given.get(name, "") for name in written(stored)}
    try:
        if fields["seen"] != written(stored)["seen"]:
            raise Conflict(
                f"memory {stored.id} has been changed since you opened this form",
                hint="The form has your text. Open the memory in another tab, and save again to replace it.",
            )
        wanted = changes(stored, fields)
        if wanted:
            await context.call(context.client.update, stored.id, **wanted)
    except PgrecallError as error:
        given = fields | {"seen": written(stored)["seen"]}
        return context.page("edit.html", problem=error, memory=stored, given=given)
    if wanted.get("is_sensitive") and not context.include_sensitive:
        return RedirectResponse("/memories", status_code=303)
    return _back(stored.id, "edited" if wanted else "")


async def supersede(request: Request) -> Response:
    """Show the form for what holds instead of a memory."""
    context = page_context(request)
    stored = await load(context, request)
    return context.page("supersede.html", memory=stored, given={"content": stored.content})


async def superseded(request: Request) -> Response:
    """Replace a memory by a new text, or by another memory."""
    context = page_context(request)
    stored, given = await _posted(context, request)
    try:
        successor = given.get("successor", "").strip()
        new = await context.call(
            context.client.supersede,
            stored.id,
            None if successor else given.get("content", ""),
            successor=identity(successor) if successor else None,
            occurred_at=moment(given.get("occurred_at", "").strip(), "when it changed"),
        )
    except PgrecallError as error:
        return context.page("supersede.html", problem=error, memory=stored, given=given)
    return _back(new, "superseded")


def confirmed(action: Literal["forget", "restore"], done: str) -> tuple[Handler, Handler]:
    """Return the page that asks whether to change a memory so, and what it posts to.

    Args:
        action: The method of the client.
        done: What the memory is then; its page says so.
    """

    async def ask(request: Request) -> Response:
        context = page_context(request)
        return context.page("confirm.html", memory=await load(context, request), action=action)

    async def act(request: Request) -> Response:
        context = page_context(request)
        stored, _ = await _posted(context, request)
        await context.call(getattr(context.client, action), stored.id)
        return _back(stored.id, done)

    return ask, act


async def _posted(context: PageContext, request: Request) -> tuple[StoredMemory, dict[str, str]]:
    """Return the memory and the fields of a form."""
    given = await read_posted(request, str(context.form_token))
    return await load(context, request), {name: _lines(value) for name, value in given.items()}


def _lines(text: str) -> str:
    """Return a text with the line ends of a text on disk; a browser posts others."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _back(id: int, done: str) -> Response:
    return RedirectResponse(f"/memories/{id}" + (f"?done={done}" if done else ""), status_code=303)


def _time(name: str, text: str) -> Any:
    if text:
        return moment(text, name)
    if name in _ENDS:
        return "infinity"
    raise InvalidInput(
        f"{name} cannot be emptied", hint="Correct it, or forget the memory and store it anew."
    )
