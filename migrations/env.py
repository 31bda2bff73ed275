"""alembic's entry point: the lock, the revisions, then the code of sql/, in that order.

`pgrecall migrate` and `alembic upgrade head` both come through here. What is done under the lock, and
why, is in `pgrecall.admin.environment`; this file only connects it to alembic's context.
"""

from alembic import context

from pgrecall.admin.migrate import environment

if context.is_offline_mode():
    raise SystemExit("pgrecall's migrations look at the database they change: --sql is not supported")

environment(context)
