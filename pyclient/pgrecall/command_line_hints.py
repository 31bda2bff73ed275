"""Hints in the terms of the command line: those of the client and the server name arguments of functions."""

import re

_OPTIONS = (
    (", or pass the embedding of the query as vector=", ""),
    (", or pass vector=", ""),
    ("Pass vector=, or leave embed unset to", "Use --no-embed to"),
    ("pass vector=, or leave embed unset to", "use --no-embed to"),
    ("or omit model=", "or remove `model` from the settings file"),
    ("with create_namespace=True", "with `pgrecall remember --create-namespace`"),
    ("create_namespace=True", "--create-namespace"),
    ("with client.admin.create_namespace()", "with `pgrecall namespace create`"),
    ("client.admin.create_namespace()", "`pgrecall namespace create`"),
    ("client.admin.namespaces()", "`pgrecall namespace list`"),
    ("client.admin.settings_in_force()", "`pgrecall config`"),
    ("client.admin.set_setting() with None", "`pgrecall config unset`"),
    ("client.admin.set_setting()", "`pgrecall config set`"),
    ("client.admin.status()", "`pgrecall status`"),
    ("client.curation.log()", "`pgrecall curate log`"),
    ("client.update()", "`pgrecall update`"),
    ("client.list()", "`pgrecall list`"),
    ("forget() removes", "`pgrecall forget` removes"),
    ("supersede()", "`pgrecall supersede`"),
    ("namespaces=['me', 'team'], namespace_weights={'team': 0.5}",
     "-n me -n team --namespace-weight team=0.5"),
    ("a longer timeout, in", "a longer --timeout, in"),
    ("force=True", "--force"),
    (" An embedding alone will do too: vector='[0.1, …]'.", ""),
    ("without after_id", "without --after"),
    ("with after_id", "with --after"),
    ("client.pages.drop()", "`pgrecall page drop`"),
    ("SELECT cfgname FROM pg_ts_config lists",
     "`pgrecall psql -c 'SELECT cfgname FROM pg_ts_config'` lists"),
    ("NULL removes the rule; erase_namespace() removes the memories.",
     "--keep never removes the rule; `pgrecall erase --whole-namespace` removes the memories."),
    ("for ever: NULL removes it", "for ever: --keep never removes it"),
    ("embed='daemon'", "--embed-by-daemon"),
    ("embed=True", "--embed"),
)  # fmt: skip
_KEEP = "'keep' leaves"
_ON_CONFLICT = re.compile(r"on_conflict(?: => |=)'(\w+)'")


def command_line_hint(hint: str) -> str:
    """Return a hint with options in place of the arguments of Python and SQL functions."""
    for argument, option in _OPTIONS:
        hint = hint.replace(argument, option)
    if "on_conflict" in hint:
        hint = hint.replace(_KEEP, "keep leaves")
    return _ON_CONFLICT.sub(r"--on-conflict \1", hint)
