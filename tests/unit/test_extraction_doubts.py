"""What is said, and does not say that it is so: hearsay, fiction, what is taken back, and texts of somebody else."""

from __future__ import annotations

import pytest

from support.reading import facts


@pytest.mark.parametrize(
    "text",
    [
        # Hearsay, and doubts behind the statement.
        "Anna Holm works at Acme, he says.",
        "Anna Holm works at Acme, I think.",
        "Anna Holm works at Acme, or so I heard.",
        "Anna Holm works at Acme, apparently.",
        "Anna Holm lives in Paris, as far as I know.",
        "I live in Paris, says Anna.",
        "'I live in Paris', says Anna.",
        "I work at Acme, my brother says",
        # Not so.
        "Anna Holm lives in Paris is a lie.",
        "Anna Holm lives in Paris, which is wrong.",
        "I work at Acme was a lie.",
        "I live in Paris, lol no",
        "I live in Paris. Just kidding!",
        "I work at Acme. Not!",
        "Anna Holm lives in Paris. Correction: Lyon.",
        "I work at Acme from next month.",
        "I work at Acme or Globex.",
        # Fiction.
        "I work at Acme in this scenario.",
        "In the movie, Anna Holm lives in Paris.",
        "Anna Holm married Paul Holm in the novel.",
        "I moved to Paris in my dream last night.",
        "Imagine that. I work at Acme.",
        "Pretend you are Bob. I work at Acme.",
        "Act as a recruiter. I work at Acme.",
        "Write a story. Anna Holm lives in Paris and works at Acme.",
        "Can you write a bio for a fictional person? Anna Holm lives in Paris.",
        # Texts to work on, and of somebody else.
        "Translate into French:\nI work at Acme as a nurse.",
        "Translate into German:\nMy name is Bob. I live in Paris.",
        "Translate: I'm Bob.",
        "Please fix the grammar of this sentence:\nAnna Holm lives in Paris since 3 years.",
        "Can you proofread the following?\nAnna Holm works at Acme.",
        "Here's an email from Bob:\n\nHi, I work at Acme now. I moved to Paris.\n\nWhat should I answer?",
        "Bob wrote:\n\nHi, I'm Kofi.",
        "On Monday Bob wrote\n> I live in Paris\n",
        "> I'm Kofi",
        # Not who opens the sentence.
        "So everyone but Anna Holm works at Acme.",
        "Somebody like Anna Holm works at Acme.",
        "But the wife of Anna Holm lives in Paris.",
    ],
)
def test_what_is_not_said_to_be_so_states_nothing(text: str) -> None:
    assert facts(text, speaker="Kim") == []


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("So I work at Acme now.", ("Kim", "works at", "Acme")),
        ("Thanks for asking, I live in Lund.", ("Kim", "lives in", "Lund")),
        ("I live in Lund. Not far from the station.", ("Kim", "lives in", "Lund")),
        ("I work at Acme in the game industry.", ("Kim", "works at", "Acme")),
        ("I work at Acme. Translate that into French.", ("Kim", "works at", "Acme")),
        ("I'm Kofi. Translate: I'm Bob.", ("Kim", "named", "Kofi")),
        ("Meeting notes:\nAnna Holm works at Acme.", ("Anna Holm", "works at", "Acme")),
        (
            "Anna Holm (born in Oslo) is known for her role in the film Foo.",
            ("Anna Holm", "born in", "Oslo"),
        ),
        # Corrections.
        ("I work at Globex, not Initech.", ("Kim", "works at", "Globex")),
        ("Anna Holm lives in Lund, not in Malmö.", ("Anna Holm", "lives in", "Lund")),
        ("No, I live in Lund.", ("Kim", "lives in", "Lund")),
        ("Correction: I live in Lund, not in Malmö.", ("Kim", "lives in", "Lund")),
    ],
)
def test_what_is_said_beside_a_doubt_counts(text: str, fact: tuple[str, str, str]) -> None:
    assert facts(text, speaker="Kim") == [fact]
