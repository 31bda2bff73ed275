"""`pgrecall namespace`: list, create and rename namespaces, and set what holds for their memories."""

import re
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from pgrecall.formatting import counted, sanitize_line

from .common import AsJson, DataDir, Dsn, confirm, connection_string, echo, print_json

if TYPE_CHECKING:
    from pgrecall.models import SecretsScan

namespace = typer.Typer(no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="The namespace.")]


class Action(StrEnum):
    """What happens to memories whose time has come."""

    forget = "forget"
    erase = "erase"


class Policy(StrEnum):
    """What is done with a memory that holds a secret."""

    refuse = "refuse"
    redact = "redact"
    sensitive = "sensitive"
    allow = "allow"
    default = "default"


@namespace.command("list")
def list_namespaces(as_json: AsJson = False, dsn: Dsn = None, data_dir: DataDir = None) -> None:
    """List the namespaces that the role may read."""
    from pgrecall import Client

    with Client(connection_string(dsn, data_dir), pool_max=1) as client:
        found = client.admin.namespaces()
    if as_json:
        print_json([one.as_dict() for one in found])
        return
    for one in found:
        echo(f"{one.access:<7}{one.language:<12}{sanitize_line(one.name)}")


@namespace.command("create")
def create(
    name: Name,
    language: Annotated[str | None, typer.Option(help="Text-search configuration; default: english.")] = None,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Create a namespace. Does nothing if it exists."""
    from pgrecall import Client

    with Client(connection_string(dsn, data_dir), pool_max=1) as client:
        client.admin.create_namespace(name, language=language)


@namespace.command("rename")
def rename(
    name: Name,
    new_name: Annotated[str, typer.Argument(help="Its new name.")],
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Give a namespace another name. `pgrecall erase --whole-namespace` deletes one."""
    from pgrecall import Client

    with Client(connection_string(dsn, data_dir), pool_max=1) as client:
        client.admin.rename_namespace(name, new_name)


@namespace.command("retention")
def retention(
    name: Annotated[str | None, typer.Argument(help="The namespace; without one, list the rules.")] = None,
    keep: Annotated[
        str | None, typer.Option(help="How long, such as '90 days' or '12 hours'; never removes the rule.")
    ] = None,
    category: Annotated[str | None, typer.Option(help="Only this category.")] = None,
    action: Annotated[Action, typer.Option(help="What happens then.")] = Action.forget,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Set how long the memories of a namespace are kept, or list the rules."""
    if (name is None) != (keep is None):
        raise typer.BadParameter("pass both a namespace and --keep, or neither")
    span = None if keep is None else _span(keep)
    from pgrecall import Client

    with Client(connection_string(dsn, data_dir), pool_max=1) as client:
        if name is not None:
            client.admin.set_retention(name, span, category=category, action=action.value)
            return
        rules = client.admin.retention()
    if as_json:
        print_json([rule.as_dict() for rule in rules])
        return
    for rule in rules:
        which = "" if rule.category is None else f" ({sanitize_line(rule.category)})"
        echo(f"{sanitize_line(rule.namespace)}{which}: {rule.action} after {rule.keep}, {rule.due} due")


@namespace.command("secrets")
def secrets(
    name: Annotated[
        str | None,
        typer.Argument(
            help="The namespace; without one, and without options, list what is done, and was found."
        ),
    ] = None,
    policy: Annotated[Policy | None, typer.Option(help="What is done with memories.")] = None,
    in_messages: Annotated[Policy | None, typer.Option(help="With messages of conversations.")] = None,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Set what is done with memories that hold a secret, or list it.

    An option that is left out leaves that policy as it is; `default` takes the setting of the database.
    """
    if name is None and (policy is not None or in_messages is not None):
        raise typer.BadParameter("--policy and --in-messages need a namespace")
    from pgrecall import Client, UnknownNamespace

    with Client(connection_string(dsn, data_dir), pool_max=1) as client:
        if policy is not None or in_messages is not None:
            client.admin.set_secrets(
                str(name),
                None if policy is None else policy.value,
                in_messages=None if in_messages is None else in_messages.value,
            )
            return
        listed = [one for one in client.admin.secrets() if name in {None, one.namespace}]
    if name is not None and not listed:
        raise UnknownNamespace(f"there is no namespace {name!r}", hint="Check the name.")
    if as_json:
        print_json([one.as_dict() for one in listed])
        return
    for one in listed:
        echo(
            f"{sanitize_line(one.namespace)}: {one.policy}, in messages {one.in_messages}; "
            f"found: {_kinds(one.found)}"
        )


@namespace.command("scan")
def scan(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Namespaces; without one, all that the role may write."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be done, and change nothing.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Look for secrets in the stored memories, and do what the policy of their namespace says.

    For memories from before an upgrade or a change of the policy. Where it is redact, the secret is replaced
    in the memory and its history, which cannot be undone; sensitive and refuse make the memory sensitive;
    allow only counts. No text is printed. Interrupted, it can be run again.
    """
    from pgrecall import Client

    if not (yes or dry_run):
        confirm(
            "Redact secrets or mark their memories, as the policies say?",
            found="redacted secrets cannot be brought back",
            verb="scan",
        )
    reports = []
    try:
        with Client(connection_string(dsn, data_dir), pool_max=1) as client:
            for name in names or [one.name for one in client.admin.namespaces() if one.access == "write"]:
                report = client.admin.scan_secrets(name, dry_run=dry_run)
                reports.append({"namespace": name, **report.as_dict()})
                if not as_json:
                    echo(f"{sanitize_line(name)}: {_line(report, dry_run=dry_run)}")
    finally:
        # What was done stays done if a later namespace fails.
        if as_json:
            print_json(reports)


def _line(report: "SecretsScan", *, dry_run: bool) -> str:
    would = "to be " if dry_run else ""
    return (
        f"{counted(report.scanned, 'memory')} read, {report.redacted} {would}redacted, "
        f"{report.marked} {would}made sensitive; found: {_kinds(report.found)}"
    )


def _kinds(found: dict[str, int]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in sorted(found.items())) or "none"


def _span(keep: str) -> timedelta | None:
    if keep == "never":
        return None
    read = re.fullmatch(r"(\d{1,6}) (minute|hour|day|week)s?", keep.strip())
    if read is None:
        raise typer.BadParameter(f"{keep!r} is not a span such as '90 days'", param_hint="--keep")
    return timedelta(**{f"{read[2]}s": int(read[1])})
