"""Scaffold a rule: `make rule CODE=VGL326 NAME=my_rule SUMMARY="what is wrong"`.

Writes the rule, its cases and its page, and enters it in the registry and in the table of codes. What it writes runs at
once and fails its tests until the rule finds something.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

RULE = '''"""{code}: {summary}."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.lint.subject import Subject


def find(subject: Subject) -> Iterator[Diagnostic]:
    """Statements that are called `wrong`: write here what to look for."""
    for statement in subject.policy.statements:
        if statement.name == "wrong":
            message = "`wrong` is no name for a statement"
            yield Diagnostic.of("{code}", message, statement.source, statement.span)
'''

CASES = """# {code}

```vgl
statement wrong: abs(deploy(env = "live")) //! {code}
```

Near miss:

```vgl
statement right: abs(deploy(env = "live"))
```
"""

PAGE = """# {code}: {summary}

What is found, in two sentences.

## Why

What goes wrong where it is left.

## Example

```vgl wrong
statement wrong: abs(deploy(env = "live"))
```

## Instead

```vgl right
statement right: abs(deploy(env = "live"))
```

What to do.
"""


def scaffold(root: Path, code: str, name: str, summary: str) -> list[Path]:
    """Write a rule into a checkout; the paths that were written or changed.

    Raises:
        ValueError: the code or the name is taken, or is none.
    """
    codes, registry = root / "vigil_lang/diagnostics/codes.py", root / "vigil_lang/lint/registry.py"
    rule = root / f"vigil_lang/lint/rules/{name}.py"
    cases, page = root / f"tests/lint/rules/{code}.md", root / f"docs/codes/{code}.md"
    table, list_of_rules = codes.read_text(encoding="utf-8"), registry.read_text(encoding="utf-8")
    if not re.fullmatch(r"VGL[378][0-9]{2}", code):
        raise ValueError(f"{code} is no code for a rule: VGL3nn, VGL7nn or VGL8nn")
    if not re.fullmatch(r"[a-z][a-z_]*", name):
        raise ValueError(f"{name} is no name for a module")
    if f'"{code}"' in table or rule.exists() or cases.exists() or page.exists():
        raise ValueError(f"{code} or {name} is taken")
    rows = [m for m in re.finditer(r'^    \("(VGL[0-9]{3})", .*\n', table, re.MULTILINE) if m[1] < code]
    at = rows[-1].end()
    codes.write_text(f'{table[:at]}    ("{code}", "warning", "{summary}"),\n{table[at:]}', encoding="utf-8")
    end = list_of_rules.index("\n}", list_of_rules.index("_FURTHER = {"))
    registry.write_text(f'{list_of_rules[:end]}\n    "{code}": "rules.{name}",{list_of_rules[end:]}', encoding="utf-8")
    for path, text in ((rule, RULE), (cases, CASES), (page, PAGE)):
        path.write_text(text.format(code=code, summary=summary), encoding="utf-8")
    return [rule, cases, page, codes, registry]


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="Scaffold a rule of the linter.")
    parser.add_argument("code")
    parser.add_argument("name")
    parser.add_argument("summary")
    args = parser.parse_args()
    root = Path(__file__).resolve().parents[2]
    try:
        for path in scaffold(root, args.code, args.name, args.summary):
            print(path.relative_to(root))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
