"""`pgrecall migrate`: bring a database to this package's schema."""

from typing import Annotated

import typer

from pgrecall.formatting import sanitize_line

from .common import AsJson, DataDir, Dsn, confirm, echo, effective_dsn, print_json


def migrate(
    dim: Annotated[
        int | None, typer.Option(help="Dimension of the vectors; fixed when a database is first migrated.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="Embedding model, by name or folder.")] = None,
    revision: Annotated[str, typer.Option(help="Target revision; 'base' removes everything.")] = "head",
    plpython: Annotated[
        bool | None,
        typer.Option(
            "--with-plpython/--without-plpython",
            help="Install the functions in Python, for a superuser with plpython3u; default: unchanged.",
            show_default=False,
        ),
    ] = None,
    schema: Annotated[
        str | None,
        typer.Option(help="Schema of the functions for clients, else public; fixed by the first migration."),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; exit 1 if the database is not current.")
    ] = False,
    as_sql: Annotated[
        bool,
        typer.Option("--sql", help="Change nothing; print what would be run, as plain SQL."),
    ] = False,
    without_roles: Annotated[
        bool, typer.Option("--without-roles", help="With --sql: leave out the creation of roles.")
    ] = False,
    owner: Annotated[
        str | None,
        typer.Option(help="Give everything to this role, as a superuser, and change nothing else."),
    ] = None,
    roles_sql: Annotated[
        str | None,
        typer.Option(
            "--roles-sql",
            metavar="OWNER",
            help="Connect to nothing; print what an administrator runs, so that role OWNER can migrate.",
        ),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Do not ask before a downgrade, which drops tables or columns.")
    ] = False,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Bring the database to the schema and the SQL code of this package."""
    if check and (
        dim is not None or model is not None or revision != "head" or plpython is not None or schema
    ):
        raise typer.BadParameter(
            "--check cannot be combined with --dim, --model, --revision, --schema or --with-plpython"
        )
    if check and as_sql:
        raise typer.BadParameter("--check cannot be combined with --sql")
    if as_json and as_sql:
        raise typer.BadParameter("--json cannot be combined with --sql")
    if without_roles and not as_sql:
        raise typer.BadParameter("--without-roles needs --sql")
    if roles_sql is not None:
        from pgrecall.admin.migrate import roles_script

        echo(roles_script(roles_sql, schema))
        return
    target = effective_dsn(dsn, data_dir)
    if owner is not None:
        if check or as_sql or as_json or dim is not None or model is not None or plpython is not None:
            raise typer.BadParameter("--owner cannot be combined with other options than --dsn")
        from pgrecall.admin.giving import give_to

        echo(f"objects given to role {owner}: {give_to(target, owner)}")
        return
    if check:
        _check(target, as_json=as_json)
        return
    if as_sql:
        from pgrecall.admin.migrate import migration_script

        echo(
            migration_script(
                target,
                dim=dim,
                model=model,
                revision=revision,
                plpython=plpython,
                schema=schema,
                with_roles=not without_roles,
            )
        )
        return
    from pgrecall.admin.migrate import database_to_downgrade
    from pgrecall.admin.migrate import migrate as bring

    if revision != "head" and not yes and (name := database_to_downgrade(target, revision)) is not None:
        confirm(
            f"Downgrade database {sanitize_line(name)} to {revision}? Data of newer revisions are dropped"
            f"{', with every memory' if revision == 'base' else ''}.",
            found=f"database {sanitize_line(name)} has a newer revision, whose data a downgrade drops",
            verb="downgrade it",
            can_try=False,
        )
    report = bring(target, dim=dim, model=model, revision=revision, plpython=plpython, schema=schema)
    if as_json:
        from dataclasses import asdict

        print_json(asdict(report))
        return
    for message in report.messages:
        echo(message)
    where = "nothing is installed" if report.revision is None else f"revision {report.revision}"
    code = "" if report.bundle_hash is None else f", SQL code {report.bundle_hash[:12]}"
    echo(f"{'migrated' if report.changed else 'nothing to do'}: {where}{code}")


def _check(dsn: str, *, as_json: bool) -> None:
    from pgrecall.admin.migrate import check

    state = check(dsn)
    if as_json:
        from dataclasses import asdict

        print_json({"current": state.current} | asdict(state))
    elif state.current:
        echo(f"current: revision {state.revision}, SQL code {state.expected_hash[:12]}")
    else:
        for problem in state.problems:
            echo(problem, err=True)
    if not state.current:
        raise typer.Exit(1)
