"""Who may ask that everything runs, and the sentence for it."""

from __future__ import annotations

import pytest

from relay.intake.events import PullRequestChanged, PushReceived
from relay.intake.full_wishes import FullWishes, full_wishes
from relay.settings import RelaySettings

PUSH = PushReceived("o/r", "refs/heads/main", "a" * 40, "b" * 40, "Fold")


def pull(author: str = "someone", *labels: str, label: str = "") -> PullRequestChanged:
    return PullRequestChanged("o/r", 7, "main", "a" * 40, "b" * 40, "t", "b", author, labels, label)


def test_by_default_two_labels_ask_for_everything_and_nobody_else(settings: RelaySettings) -> None:
    assert full_wishes(settings) == FullWishes(frozenset({"full", "ci-no-td"}))


def test_empty_lists_ask_for_nothing(settings: RelaySettings) -> None:
    wishes = full_wishes(settings.model_copy(update={"full_labels": "", "full_for": " , "}))
    assert wishes == FullWishes()
    assert wishes.why(pull("someone", "full", "")) == ""


@pytest.mark.parametrize(
    ("labels", "authors", "event", "words"),
    [
        ("Full", "", pull("someone", "module: nn", "FULL"), 'label "FULL"'),
        ("full", "", pull("someone", label="full"), 'label "full"'),
        ("", "Someone, other", pull("SOMEONE"), "SOMEONE's pull requests"),
        ("", "*", pull(), "every change"),
        ("", "*", PUSH, "every change"),
    ],
)
def test_the_sentence_names_what_asked(
    settings: RelaySettings, labels: str, authors: str, event: PullRequestChanged | PushReceived, words: str
) -> None:
    wishes = full_wishes(settings.model_copy(update={"full_labels": labels, "full_for": authors}))
    assert words in wishes.why(event)


@pytest.mark.parametrize("event", [pull("other", "fullest"), pull(""), PUSH])
def test_others_get_a_selection(event: PullRequestChanged | PushReceived) -> None:
    assert FullWishes(frozenset({"full"}), frozenset({"someone"})).why(event) == ""
