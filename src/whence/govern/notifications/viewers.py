"""Who reads what a receiver gets, by the access policy: the same is hidden in a channel as in the web UI."""

from dataclasses import replace

from whence.govern.notifications.receivers import Receiver, Receivers
from whence.model.access import Grant, Role, Viewer
from whence.store.security.grants import EVERYBODY
from whence.store.security.policy import Policy


def limit_receivers(found: Receivers, policy: Policy) -> Receivers:
    """The receivers, each with its viewer by an access policy."""
    limited = (replace(one, policy_viewer=viewer_of(one, policy)) for one in found.receivers)
    return replace(found, receivers=tuple(limited))


def viewer_of(receiver: Receiver, policy: Policy) -> Viewer:
    """The subject that the receiver names, or else a reader of its namespaces, from whom is hidden what is hidden from
    everybody, and what policies restrict: nobody knows who reads there.
    """
    if receiver.reader:
        return policy.viewer(receiver.reader)
    return Viewer(
        name="receiver",
        grants=tuple(Grant(Role.READER, one) for one in receiver.namespaces),
        hidings=policy.hidings.get(EVERYBODY, ()),
        restrictions=tuple(one for one in policy.restrictions if one.is_for(())),
    )
