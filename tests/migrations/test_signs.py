"""Names in Thai, Lao, Burmese, Khmer and India's scripts get their signs back; all others stay as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pgrecall.admin.migrate import migrate
from support.migrating import run

if TYPE_CHECKING:
    from collections.abc import Callable

# The name as written, and what the former function made of it.
FORMER = {
    "ข้าว": "ข าว",
    "C++ ของฉัน": "c++ ของฉัน",
    "हिन्दी": "हिन दी",
    "Ana Müller": "ana müller",
    "東京": "東京",
}
RENEWED = {
    "ข้าว": "ข้าว",
    "C++ ของฉัน": "c++ ของฉัน",
    "हिन्दी": "हिन्दी",
    "Ana Müller": "ana müller",
    "東京": "東京",
    # Merged by hand: the key is of another name.
    "ไก่": "chicken",
}


def test_names_get_their_signs_back(new_database: Callable[..., str]) -> None:
    dsn = new_database()
    migrate(dsn, revision="0033")
    run(dsn, "INSERT INTO pgrecall.namespaces (name) VALUES ('names')")
    for name, key in (FORMER | {"ไก่": "chicken"}).items():
        run(
            dsn,
            "WITH c AS (INSERT INTO pgrecall.concepts (namespace_id, key, name) "
            f"SELECT id, '{key}', '{name}' FROM pgrecall.namespaces WHERE name = 'names' RETURNING *) "
            "INSERT INTO pgrecall.concept_aliases (namespace_id, alias, concept_id, name, is_manual) "
            "SELECT namespace_id, key, id, name, true FROM c",
        )
    migrate(dsn)
    for table, column in (("concepts", "key"), ("concept_aliases", "alias")):
        assert dict(run(dsn, f"SELECT name, {column} FROM pgrecall.{table}")) == RENEWED
    for name in FORMER:
        assert run(dsn, f"SELECT pgrecall.find_concept('{name}', 'names') IS NOT NULL") == [(True,)]
