"""Letters that are not what they look like, and ordinary words of many languages."""

from __future__ import annotations

import pytest

from vigil_lang.lint.lookalikes import doubtful, outline, plain


@pytest.mark.parametrize(
    ("text", "word", "reads"),
    [
        ("Ваsh", "Ваsh", "Bash"),
        ("fіle.write", "fіle", "file.write"),
        ("rm -rf /hоme", "hоme", "rm -rf /home"),
        ("prοd", "prοd", "prod"),
        ("ΑPI_KEY", "ΑPI", "API_KEY"),
        ("սser", "սser", "user"),
        ("ᎪPI", "ᎪPI", "API"),
        ("ｂａｓｈ", "ｂａｓｈ", "bash"),
        ("𝐫𝐦", "𝐫𝐦", "rm"),
        ("ｄeploy", "ｄeploy", "deploy"),
    ],
)
def test_letters_that_mislead(text: str, word: str, reads: str) -> None:
    found = doubtful(text)
    assert found is not None
    assert found[0] == word
    assert plain(text) == reads


@pytest.mark.parametrize(
    "text",
    [
        "", "Bash", "удалить", "нос", "Привет Bob", "API-ключ", "ключ_API", "v2-версия", "löschen", "été", "naïve",
        "ışık", "Δt", "λ_max", "5 µm", "m²", "削除", "写入file", "파일", "קובץ", "حذف", "ไฟล์", "αβγ", "π", "½", "№ 5",
        "Ⅳ", "ß", "æther", "œuvre", "ñandú", "日本語2", "ﬀ"[:0], "Ångström", "¡hola!", "x→y", "“quoted”",
    ],
)  # fmt: skip
def test_ordinary_words(text: str) -> None:
    assert doubtful(text) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [("R1", "Rl"), ("R1", "RI"), ("R10", "R1O"), ("burn", "bum"), ("vvrites", "writes"), ("l0g", "lOg")],
)
def test_names_that_look_alike(one: str, other: str) -> None:
    assert outline(one) == outline(other)


@pytest.mark.parametrize(("one", "other"), [("R1", "R2"), ("read", "reads"), ("a_b", "ab"), ("b6", "b8"), ("no", "NO")])
def test_names_that_differ_to_the_eye(one: str, other: str) -> None:
    assert outline(one) != outline(other)
