"""Forms of `people`."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _


class SignInForm(forms.Form):
    """E-mail address and password; whether they match is the view's business."""

    email = forms.EmailField(label=_("E-mail"), max_length=254)
    password = forms.CharField(label=_("Password"), max_length=1000, strip=False)
