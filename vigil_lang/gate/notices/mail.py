"""A notice as an e-mail (RFC 5322), for a command such as `sendmail -i -t`."""

from __future__ import annotations

from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import default
from email.utils import formatdate
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from vigil_lang.gate.notices.notice import name_of
from vigil_lang.gate.notices.wording import details, headline, place

if TYPE_CHECKING:
    from vigil_lang.gate.notices.notice import Notice
    from vigil_lang.gate.settings import Mail


def message(settings: Mail, told: Notice) -> bytes:
    """The message. Its id is the same each time that it is sent, and no header has a line of another's making.

    Raises:
        ValueError: an address in the settings is none.
    """
    mail = EmailMessage(policy=default)
    mail["From"] = _address(settings.sender)
    mail["To"] = [_address(each) for each in settings.to]
    # An encoded word in a text would be decoded here, and could bring a line and a header of its own.
    mail["Subject"] = headline(told).replace("=?", "= ?")
    mail["Date"] = formatdate(localtime=False)
    host = (urlsplit(told["link"]).hostname if told["link"] else None) or "vigil.invalid"
    mail["Message-ID"] = f"<{name_of(told)}@{host}>"
    mail["Auto-Submitted"] = "auto-generated"
    lines = [f"Open the page to confirm or deny: {place(told)}", "", *details(told)]
    mail.set_content("\n".join(lines) + "\n", charset="utf-8", cte="quoted-printable")
    return mail.as_bytes()


def _address(text: str) -> Address:
    try:
        return Address(addr_spec=text)
    except (MessageError, ValueError, IndexError) as error:
        raise ValueError(f"`{text}` is no address of e-mail: {error}") from error
