"""Operator functions of the asynchronous client: status, failures, health, settings."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

from pgrecall.arguments import as_setting, checked_arguments, nullable_arguments
from pgrecall.models import (
    Failure,
    Generation,
    HealthCheck,
    IndexStatus,
    Namespace,
    Retention,
    Secrets,
    SecretsPolicy,
    SecretsScan,
    SettingInForce,
    Status,
    Worker,
)

if TYPE_CHECKING:
    from datetime import timedelta

    from pgrecall.config.session_settings import RequestedSetting

    from .database import AsyncDatabase


class AsyncAdmin:
    """Status and settings of the database: `client.admin`."""

    def __init__(self, database: AsyncDatabase) -> None:
        self._database = database

    async def status(self) -> Status:
        """Return the counts and versions of `recall_status()`."""
        rows = await self._database.rows("public.recall_status", {})
        return Status.of(rows[0])

    async def generations(self) -> list[Generation]:
        """Return the progress of each generation of embeddings, active one first. Scans all memories."""
        rows = await self._database.rows("pgrecall.generation_progress", {})
        return [Generation.of(row) for row in rows]

    async def workers(self) -> list[Worker]:
        """Return the embedder daemons with a heartbeat within the last day, live ones first."""
        rows = await self._database.rows("pgrecall.worker_status", {})
        return [Worker.of(row) for row in rows]

    async def indexes(self) -> list[IndexStatus]:
        """Return the indexes of pgrecall's tables, largest first."""
        rows = await self._database.rows("pgrecall.index_status", {})
        return [IndexStatus.of(row) for row in rows]

    async def failures(
        self, cause: str | None = None, *, k: int | None = None, kind: str | None = None
    ) -> list[Failure]:
        """Return the failed memories, newest failure first.

        Args:
            cause: Only failures with this cause.
            k: Maximum number of failures; None is 100.
            kind: Only jobs of this kind: embedding, text, llm, notes or curation.
        """
        rows = await self._database.rows("pgrecall.failures", checked_arguments(cause=cause, k=k, kind=kind))
        return [Failure.of(row) for row in rows]

    async def retry_failures(
        self, cause: str | None = None, *, id: int | None = None, kind: str | None = None
    ) -> int:
        """Retry failed memories.

        Args:
            cause: Only failures with this cause.
            id: Only this memory.
            kind: Only jobs of this kind.

        Returns:
            The number of jobs to be retried.
        """
        return int(
            await self._database.value(
                "pgrecall.retry_failures", checked_arguments(cause=cause, memory_id=id, kind=kind)
            )
        )

    async def health(self) -> list[HealthCheck]:
        """Run the health checks of the database and return their results."""
        rows = await self._database.rows("pgrecall.health", {})
        return [HealthCheck.of(row) for row in rows]

    async def analyze(self) -> None:
        """Refresh the planner's statistics, for example after a large import."""
        await self._database.rows("pgrecall.analyze", {})

    async def last_memory_id(self) -> int:
        """Return the highest memory id; 0 if there are no memories. Ids only increase."""
        return int(await self._database.value("pgrecall.last_memory_id", {}))

    async def settings_in_force(self) -> list[SettingInForce]:
        """Return every database setting as it applies to this client's calls, with its source."""
        rows = await self._database.rows("pgrecall.settings_list", {})
        return [
            SettingInForce(
                name=row["name"],
                value=row["value"],
                source=_source(row["source"], self._database.settings.get(row["name"])),
                default_value=row["default_value"],
                unit=row["unit"],
                description=row["description"],
                group=row["group"],
            )
            for row in rows
        ]

    async def set_setting(self, name: str, value: str | float | None) -> None:
        """Store a setting for the whole database. Values of sessions, roles and clients override it.

        Args:
            name: Its short name, such as 'rrf_k'.
            value: The value; None restores the default.

        Raises:
            InvalidInput: No such setting, or a value that it does not accept.
        """
        await self._database.rows(
            "pgrecall.set_setting",
            nullable_arguments(name=name, value=None if value is None else as_setting("the value", value)),
        )

    async def namespaces(self) -> list[Namespace]:
        """Return the namespaces that the role may read, by name."""
        return [Namespace.of(row) for row in await self._database.rows("pgrecall.list_namespaces", {})]

    async def create_namespace(self, name: str, *, language: str | None = None) -> None:
        """Create a namespace. Does nothing if it exists.

        Args:
            name: Its name, 1 to 200 characters.
            language: The text-search configuration of its queries; None takes english.

        Raises:
            PermissionDenied: The role does not see every namespace.
            UnknownLanguage: There is no such text-search configuration.
        """
        await self._database.value(
            "pgrecall.create_namespace", nullable_arguments(name=name) | checked_arguments(language=language)
        )

    async def rename_namespace(self, name: str, new_name: str) -> None:
        """Give a namespace another name. Clients that use the old name find nothing any more.

        Raises:
            UnknownNamespace: There is no such namespace.
            Conflict: The new name is taken.
            PermissionDenied: The role is no administrator.
        """
        await self._database.value(
            "pgrecall.rename_namespace", nullable_arguments(name=name, new_name=new_name)
        )

    async def retention(self) -> list[Retention]:
        """Return how long memories are kept: a row for each namespace and category with a rule."""
        return [Retention.of(row) for row in await self._database.rows("pgrecall.list_retention", {})]

    async def set_retention(
        self,
        namespace: str,
        keep: timedelta | None,
        *,
        category: str | None = None,
        action: Literal["forget", "erase"] = "forget",
    ) -> None:
        """Set how long the memories of a namespace are kept; the daemon then forgets or erases them.

        Args:
            namespace: The namespace.
            keep: How long, from `created_at`; None removes the rule.
            category: Only this category; None: all without a rule of their own.
            action: 'forget' keeps a tombstone, for `restore`; 'erase' deletes permanently.

        Raises:
            UnknownNamespace: There is no such namespace.
            InvalidInput: `keep` is not above 0.
            PermissionDenied: The role is no administrator.
        """
        arguments = nullable_arguments(namespace=namespace, keep=keep, action=action)
        arguments |= checked_arguments(category=category)
        await self._database.rows("pgrecall.set_retention", arguments)

    async def secrets(self) -> list[Secrets]:
        """Return what each namespace does with secrets, and how many memories had some, by kind."""
        return [Secrets.of(row) for row in await self._database.rows("pgrecall.list_secrets", {})]

    async def set_secrets(
        self,
        namespace: str,
        policy: SecretsPolicy | Literal["default"] | None = None,
        *,
        in_messages: SecretsPolicy | Literal["default"] | None = None,
    ) -> None:
        """Set what is done with memories of a namespace that hold a secret, from now on.

        Args:
            namespace: The namespace.
            policy: 'refuse', 'redact', 'sensitive' or 'allow'; 'default': what the setting `secrets` says;
                None leaves it as it is.
            in_messages: The same for messages of conversations; 'default': what `secrets_in_messages` says.

        Raises:
            UnknownNamespace: There is no such namespace.
            InvalidInput: There is no such policy.
            PermissionDenied: The role is no administrator.
        """
        arguments = nullable_arguments(namespace=namespace, policy=policy, in_messages=in_messages)
        await self._database.rows("pgrecall.set_secrets", arguments)

    async def scan_secrets(self, namespace: str | None = None, *, dry_run: bool = False) -> SecretsScan:
        """Do with secrets in stored memories what the policy of their namespace says.

        Redaction rewrites memories and their history, and cannot be undone. A second scan changes nothing.
        Each batch of 1,000 memories is a transaction of its own; if a scan is interrupted, what it has done
        stays.

        Args:
            namespace: The namespace; None: that of the client.
            dry_run: True changes nothing, and returns what would be done.

        Raises:
            UnknownNamespace: There is no such namespace.
            PermissionDenied: The role may only read it.
        """
        chosen = await self._database.namespace(namespace)
        arguments = nullable_arguments(namespace=chosen, dry_run=dry_run, after_id=0)
        scanned = redacted = marked = 0
        found: Counter[str] = Counter()
        while arguments["after_id"] is not None:
            [batch] = await self._database.rows_now("pgrecall.scan_secrets", arguments)
            scanned += batch["scanned"]
            redacted += batch["redacted"]
            marked += batch["marked"]
            found.update(batch["found"])
            arguments["after_id"] = batch["last_id"]
        return SecretsScan(scanned=scanned, redacted=redacted, marked=marked, found=dict(found))


def _source(source: str, requested: RequestedSetting | None) -> str:
    if source != "parameter":
        return source
    return "parameter (SET)" if requested is None else requested.source
