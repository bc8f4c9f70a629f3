"""VGL610: a test that cannot be run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.diagnostics import Diagnostic
    from vigil_lang.lint.subject import Subject


def find(subject: Subject) -> Iterator[Diagnostic]:
    """What keeps tests of the file from being run."""
    policy = subject.policy
    if not any(isinstance(item, tree.TestCase) for item in policy.module.file.items):
        return
    from vigil_lang.testing.fixtures import Fixtures
    from vigil_lang.testing.policies_under_test import PoliciesUnderTest
    from vigil_lang.testing.read import find_tests

    subjects = PoliciesUnderTest(policy, subject.access)
    if not subjects.errors():  # what is wrong with a policy is said where it is checked itself
        yield from find_tests(policy, Fixtures(subject.tools), subjects).findings
