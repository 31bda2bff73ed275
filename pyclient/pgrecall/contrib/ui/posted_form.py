"""What a page posts: read only if it comes from a form of this inspector."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException

if TYPE_CHECKING:
    from starlette.requests import Request

# A memory of 256 KiB has up to three times as many characters in a form.
_LONGEST = 1024 * 1024
_FORM = "application/x-www-form-urlencoded"


async def read_posted(request: Request, form_token: str) -> QueryParams:
    """Return the fields of a form that a page of this inspector has posted.

    A page of elsewhere cannot know the token. That the cookie is of this site only, and that the browser says
    where the form was, are further barriers.

    Args:
        request: The request.
        form_token: What the field `form_token` must hold.

    Raises:
        HTTPException: It is no form, too long, or not from a page of this inspector.
    """
    # Origin is null here: no page names a referrer.
    if request.headers.get("sec-fetch-site", "same-origin") != "same-origin":
        raise HTTPException(403, "the form is of another site")
    if request.headers.get("content-type", "").split(";")[0].strip() != _FORM:
        raise HTTPException(415, "what was posted is no form")
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > _LONGEST:
            raise HTTPException(413, "the form is too long")
    fields = QueryParams(bytes(body).decode("utf-8", "replace"))
    if not secrets.compare_digest(fields.get("form_token", "").encode(), form_token.encode()):
        raise HTTPException(403, "the form is of another site, or of an earlier run of the inspector")
    return fields
