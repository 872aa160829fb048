"""E-mail by way of an SMTP server."""

import smtplib
import ssl
from email.message import EmailMessage

from whence.errors import DeliveryError
from whence.govern.notifications.notice import Act
from whence.govern.notifications.receivers import EmailReceiver, Security
from whence.govern.notifications.rendering.mail import message

_SECONDS = 15


def deliver(receiver: EmailReceiver, act: Act, base: str) -> str:
    """Send the message of an act. Returns the `Message-ID` that begins the thread. Raises DeliveryError."""
    made = message(act, receiver, base)
    send(receiver, made)
    return act.reference or str(made["Message-ID"])


def send(receiver: EmailReceiver, made: EmailMessage) -> None:
    """Send a message to all recipients of a receiver. Raises DeliveryError."""
    try:
        with _connect(receiver) as server:
            if receiver.security is Security.STARTTLS:
                server.starttls(context=ssl.create_default_context())
            if receiver.password:
                server.login(receiver.username, receiver.password.read())
            refused = server.send_message(made, receiver.sender, list(receiver.to))
    except (OSError, smtplib.SMTPException, UnicodeError) as error:
        is_away = isinstance(error, OSError) and not isinstance(error, smtplib.SMTPException)
        raise DeliveryError(f"{receiver.host}:{receiver.port}", _reason(error), is_away=is_away) from None
    if refused:
        raise DeliveryError(f"{receiver.host}:{receiver.port}", f"recipients were refused: {', '.join(refused)}")


def _connect(receiver: EmailReceiver) -> smtplib.SMTP:
    if receiver.security is Security.TLS:
        context = ssl.create_default_context()
        return smtplib.SMTP_SSL(receiver.host, receiver.port, timeout=_SECONDS, context=context)
    return smtplib.SMTP(receiver.host, receiver.port, timeout=_SECONDS)


def _reason(error: Exception) -> str:
    if isinstance(error, smtplib.SMTPResponseException):
        return f"answered {error.smtp_code}: {error.smtp_error!r}"
    return str(error) or type(error).__name__
