"""The `context.` fields of an action: who asks, in which run, and when."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from vigil_lang.gate.state import StateError
from vigil_lang.semantics.context_fields import CONTEXT
from vigil_lang.trace.values import canonical

if TYPE_CHECKING:
    from datetime import tzinfo

    from vigil_lang.gate.request import Request
    from vigil_lang.gate.settings import Settings

_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


class Moments:
    """Gives the context of requests by the settings.

    Raises:
        StateError: there is no such time zone.
    """

    def __init__(self, settings: Settings) -> None:
        self._zone = UTC if settings.timezone == "UTC" else _zone(settings.timezone)
        self._of_agent = {
            agent: {
                f"{CONTEXT}user.{name}": tuple(map(canonical, value if isinstance(value, list) else [value]))
                for name, value in fields.items()
            }
            for agent, fields in settings.context.items()
        }

    def context(self, request: Request, at: int, calls: int) -> dict[str, tuple[str, ...]]:
        """The values of the fields by their full names, at a time in microseconds since 1970, after so many calls.

        What the gate and its settings say goes before what the request says.
        """
        here = datetime.fromtimestamp(at / 1_000_000, self._zone)
        asked = {f"{CONTEXT}user": request.user, f"{CONTEXT}host": request.host}
        return {
            **request.context,
            **self._of_agent.get(request.agent, {}),
            **{name: (text,) for name, text in asked.items() if text is not None},
            f"{CONTEXT}agent": (request.agent,),
            f"{CONTEXT}run": (request.run,),
            f"{CONTEXT}hour": (str(here.hour),),
            f"{CONTEXT}weekday": (_DAYS[here.weekday()],),
            f"{CONTEXT}calls": (str(calls),),
        }


def _zone(name: str) -> tzinfo:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError  # late: most settings have UTC

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise StateError(f"`timezone`: there is no time zone {name}") from error
