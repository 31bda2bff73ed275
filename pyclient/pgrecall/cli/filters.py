"""The options of the filters, which the commands share: derived from the conditions of `Filter`."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import Field, fields
from typing import Annotated, Any

import typer

from pgrecall import arguments
from pgrecall.filters import Filter

from .common import json_object, moment

Command = Callable[..., None]

UNFILTERED = Filter()
"""The default of the parameter that `with_filters` replaces."""

_CONDITIONS = {one.name: one for one in fields(Filter) if one.metadata["option"]}


def option(condition: str) -> Any:
    """Return the option of a condition."""
    declared = _CONDITIONS[condition].metadata
    return typer.Option(declared["option"], help=declared["help"])


# Of commands that take one of these, and are about something else than memories.
Since = Annotated[str | None, option("since")]
AsOf = Annotated[str | None, option("as_of")]
IncludeSuperseded = Annotated[bool, option("include_superseded")]


def with_filters(*without: str) -> Callable[[Command], Command]:
    """Give a command the options of the filters in place of its parameter `filters`, which is a `Filter`.

    Args:
        without: The conditions that it has no option for.
    """
    conditions = [one for name, one in _CONDITIONS.items() if name not in without]

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def run(**given: Any) -> None:
            read = {one.name: _read(one, given.pop(one.name)) for one in conditions}
            command(**given, filters=Filter(**read))

        parameters: list[inspect.Parameter] = []
        for parameter in inspect.signature(command).parameters.values():
            parameters += map(_parameter, conditions) if parameter.name == "filters" else [parameter]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        return run

    return decorate


def _parameter(condition: "Field[Any]") -> inspect.Parameter:
    """Return the parameter of a condition's option."""
    kind, default = {
        arguments.as_bool: (bool, False),
        arguments.as_str_list: (list[str] | None, None),
    }.get(condition.metadata["check"], (str | None, None))
    return inspect.Parameter(
        condition.name,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        default=default,
        annotation=Annotated[kind, option(condition.name)],
    )


def _read(condition: "Field[Any]", value: Any) -> Any:
    """Return the value of a condition from what its option was given."""
    check = condition.metadata["check"]
    if check is arguments.json_object:
        return json_object(condition.metadata["option"], value)
    if check is arguments.as_datetime:
        return moment(condition.metadata["option"], value)
    return None if value is False else value
