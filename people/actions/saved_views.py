"""Save, rename and remove views: addresses of our own pages, under names of one's own."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.urls import Resolver404, resolve

from common.errors import BadInput
from people.actions.audit import record
from people.models import SavedView, User

MOST = 30
LONGEST_NAME = 80
LONGEST_PATH = 2000


def save_view(*, now: datetime, by: User, name: str, path: str) -> SavedView:
    """Keep ``path`` under ``name``. Raises BadInput: bad_view_name, view_name_taken, bad_view_path, too_many_views."""
    label = _label(name)
    address = _address(path)
    with transaction.atomic():
        User.objects.select_for_update().get(pk=by.pk)  # two at once see each other's names
        mine = SavedView.objects.filter(user=by)
        if mine.count() >= MOST:
            raise BadInput("too_many_views", f"There are {MOST} saved views already.", hint="Remove one first.")
        _refuse_taken(mine.filter(name__iexact=label).exists(), label)
        view = SavedView.objects.create(user=by, name=label, path=address, created_at=now)
        record(now=now, by=by.email, action="save_view", subject_kind="view", subject=label, path=address)
    return view


def rename_view(*, now: datetime, by: User, view_id: int, name: str) -> SavedView:
    """Give one of one's own views another name. Raises BadInput: unknown_view, bad_view_name, view_name_taken."""
    label = _label(name)
    with transaction.atomic():
        view = _own(by, view_id)
        _refuse_taken(SavedView.objects.filter(user=by, name__iexact=label).exclude(pk=view.pk).exists(), label)
        old, view.name = view.name, label
        if old != label:
            view.save(update_fields=["name"])
            record(now=now, by=by.email, action="rename_view", subject_kind="view", subject=old, name=label)
    return view


def remove_view(*, now: datetime, by: User, view_id: int) -> None:
    """Remove one of one's own views. Raises BadInput unknown_view."""
    with transaction.atomic():
        view = _own(by, view_id)
        record(now=now, by=by.email, action="remove_view", subject_kind="view", subject=view.name, path=view.path)
        view.delete()


def _own(by: User, view_id: int) -> SavedView:
    User.objects.select_for_update().get(pk=by.pk)
    view = SavedView.objects.filter(user=by, pk=view_id).first()
    if view is None:
        raise BadInput("unknown_view", "There is no such saved view.", hint="Open the list of saved views.")
    return view


def _label(name: str) -> str:
    label = " ".join(name.split())
    if not label or len(label) > LONGEST_NAME or not label.isprintable():
        raise BadInput(
            "bad_view_name", f"A view needs a name of 1 to {LONGEST_NAME} characters.", hint="Say what it shows."
        )
    return label


def _refuse_taken(is_taken: bool, label: str) -> None:
    if is_taken:
        raise BadInput("view_name_taken", f"You have a view {label!r} already.", hint="Choose another name.")


def _address(path: str) -> str:
    """Take an address of one of our pages: nothing else can be saved, so nothing else is ever linked to."""
    address = path.strip()
    is_ours = address.startswith("/") and not address.startswith("//") and "\\" not in address
    if not is_ours or len(address) > LONGEST_PATH or not address.isprintable():
        raise BadInput("bad_view_path", "This is no address of a page here.", hint="Save it from the page itself.")
    try:
        resolve(address.partition("#")[0].partition("?")[0])
    except Resolver404:
        raise BadInput(
            "bad_view_path", "There is no page at this address.", hint="Save it from the page itself."
        ) from None
    return address
