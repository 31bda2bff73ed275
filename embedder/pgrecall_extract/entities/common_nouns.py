"""Guesses of a type that the word itself contradicts: "Node", "Celery" and "Helm" are nobody.

A recogniser takes a capitalised word at the beginning of a sentence for a person easily, because it has never
seen the word, and "@node" looks like a handle. Two things speak against it: the word is one of computing, or
the text writes it with a small letter as well. A wrong type is worse than none: it shows in the graph, and
people are merged by other rules than things.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pgrecall_extract.words import COMMON, FUNCTION_WORDS, word_set

from .world import GIVEN_NAMES, PLACES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pgrecall_extract.base import Mention

__all__ = ["COMPUTING", "without_wrong_types"]

COMPUTING: Final = word_set("""
    agent alert alias analytics ansible apache api app array artifact astro async attribute auth avro babel
    backend backlog backup bash batch benchmark binary bitcoin blob bootstrap bot branch browser bucket bug
    build bun bundle byte cache celery certificate changelog channel checksum chef chrome chroma ci cli
    client closure cluster cmake code codec column commit compiler component composer config connection
    consul consumer container controller cookie core cron cursor cypress daemon dashboard data database
    dataset debian debug debugger decorator default deno dependency deploy deployment desktop dev devops
    diff directory disk dns docker docs domain driver editor elastic electron elixir embedder embedding
    endpoint engine enum env environment event exception express extension failover feature fetch field
    file filesystem filter firewall firmware fixture flag flask flux folder font fork form frame framework
    frontend function future gateway git grafana gradle graph graphql grep grpc gui hadoop handler hash
    header heap helm hook host html http hub hugo hydra import index infra infrastructure ingress insert
    install instance integer integration interface iterator java javascript jest job journal json kafka kernel
    key keyboard keycloak keyword kibana kubectl kubelet kubernetes lambda laptop latency layer layout library
    linter lint linux list load lock log logger login logs loop macro main makefile manifest map markdown
    maven memory merge mesh message metadata metrics middleware migration mirror mobile mock mode model
    module monitor monorepo mount mutex mysql namespace nest network next nginx nix node nodes nomad
    notebook npm null nuxt nvm object oauth offset ops option oracle orm output package packer page pandas
    parameter parser partition password patch path payload pipeline pip pixel plugin pnpm pod pointer
    pool port postgres prefect prefix prisma process processor producer profile program prometheus promise
    prompt prototype provider proxy pulumi puppet python query queue rabbit rails ram react readme record
    redis redux reference regex registry release replica repo repository request response rest
    restart retry
    rollback rollup root route router row runner runtime rust sandbox scala schedule scheduler
    schema scope screen script scrypt sdk search secret security segment selenium semaphore sensor sentry
    server service session setup shard shell sidecar signal singleton socket software solr sonar source
    spark spec sphinx spring sprint sql sqlite ssh stack stage staging state storage storybook stream
    string stub subnet suffix svelte swagger swift swap switch symlink sync syntax sys sysadmin system
    table tablet tag task telemetry template tenant tensor terminal terraform test tests thread
    throttle ticket timeout timer timestamp token toolkit tools torch tornado trace traefik transaction
    trigger tuple type ubuntu ui unicorn update upload url user ux utils vagrant validator variable vault
    vector version vim virtualenv vite vm volume vpn vue wasm web webhook webpack website widget wifi
    wiki window windows worker workflow workspace wrapper xml yaml yarn zookeeper
""") - (GIVEN_NAMES | PLACES)
"""Words of computing that nobody is named, lower case."""

_COMPANIES: Final = word_set("apache docker elastic oracle redis")
"""Words of COMPUTING that are called organisations with good reason."""

_GUESSED: Final = frozenset({"spacy", "phrase"})
_SURE: Final = 0.9
"""What a title before the name is worth: "Dr. Baker" is a person beside any baker."""
_UNKNOWN: Final = 0.55
"""What a lone word without a type is worth, as in names.py."""
_DOUBTED: Final = frozenset({"PERSON", "ORG", "PLACE"})
_WORD = re.compile(r"(?<![\w@/.\\-])[^\W\d_]+(?![\w/\\@-])")


def without_wrong_types(text: str, mentions: Iterable[Mention]) -> list[Mention]:
    """Return mentions as CONCEPT whose type was guessed, where the word itself speaks against it.

    Args:
        text: The text.
        mentions: Mentions of names in it.
    """
    small: frozenset[str] | None = None
    kept = []
    for mention in mentions:
        if mention.type in _DOUBTED and mention.confidence < _SURE:
            words = [word for word in mention.name.lower().split() if not word.isdigit()]
            wrong = mention.source in _GUESSED | {"handle"} and _are_of_computing(words, mention.type)
            if not wrong and mention.type == "PERSON" and mention.source in _GUESSED and len(words) == 1:
                if small is None:
                    small = frozenset(word for word in _WORD.findall(text) if word.islower())
                wrong = words[0] in small and words[0] not in GIVEN_NAMES
            if wrong:
                mention = replace(mention, type="CONCEPT", confidence=min(mention.confidence, _UNKNOWN))
        kept.append(mention)
    return kept


def _are_of_computing(words: list[str], type_: str) -> bool:
    """Return whether words are common ones, and at least one is of computing ("Node", "Install Node")."""
    if type_ == "ORG" and (len(words) > 1 or not _COMPANIES.isdisjoint(words)):
        return False
    return any(word in COMPUTING for word in words) and all(
        word in COMPUTING or word in COMMON or word in FUNCTION_WORDS for word in words
    )
