"""Forms of `people`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from django import forms
from django.utils.translation import gettext_lazy as _

from people.queries import TeamName
from people.roles import ROLE_WORDS


class SignInForm(forms.Form):
    """E-mail address and password; whether they match is the view's business."""

    email = forms.EmailField(label=_("E-mail"), max_length=254)
    password = forms.CharField(label=_("Password"), max_length=1000, strip=False)


class TokenForm(forms.Form):
    """A new token: what uses it, of which team (nothing: of all that its owner sees), for how long."""

    name = forms.CharField(max_length=120, label=_("What uses it"))
    team = forms.ChoiceField(required=False, label=_("Shows"))
    days = forms.TypedChoiceField(
        coerce=int, initial=90, label=_("Good for"),
        choices=[(30, _("30 days")), (90, _("90 days")), (180, _("180 days")), (365, _("one year"))],
    )  # fmt: skip

    def __init__(self, *args: Any, teams: Sequence[TeamName], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = cast("forms.ChoiceField", self.fields["team"])
        field.choices = [("", _("All that I see")), *((team.name, team.name) for team in teams)]


class PersonForm(forms.Form):
    """Somebody to give a role to, or to invite."""

    email = forms.EmailField(label=_("E-mail"), max_length=254)
    role = forms.ChoiceField(label=_("Role"))
    team = forms.ChoiceField(required=False, label=_("For"))

    def __init__(self, *args: Any, roles: Sequence[str], teams: Sequence[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        cast("forms.ChoiceField", self.fields["role"]).choices = [(role, ROLE_WORDS[role]) for role in roles]
        cast("forms.ChoiceField", self.fields["team"]).choices = list(teams)
