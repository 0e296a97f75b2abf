"""Forms of `billing`."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from common.code_words import CODE_WORDS

UNITS = [
    ("instance_hour", _("instance and hour")),
    ("gpu_hour", _("GPU and hour")),
    ("gb_month", _("GB of disk and month")),
]


class PriceForm(forms.Form):
    """A price that is set by hand. Empty means: any."""

    gpu_model = forms.CharField(required=False, max_length=120, label=_("GPU model"))
    sku = forms.CharField(required=False, max_length=200, label=_("Instance type or disk type"))
    provider = forms.CharField(required=False, max_length=60, label=_("Provider"))
    region = forms.CharField(required=False, max_length=60, label=_("Region"))
    gpu_count = forms.IntegerField(required=False, min_value=1, max_value=1024, label=_("GPUs of the instance"))
    purchase_option = forms.ChoiceField(
        required=False, label=_("Way to pay"), choices=[("", _("any")), *CODE_WORDS["purchase"].items()]
    )
    unit = forms.ChoiceField(label=_("Price per"), choices=UNITS)
    price = forms.DecimalField(min_value=0, max_digits=20, decimal_places=9, label=_("Price"))
    currency = forms.RegexField(r"^[A-Z]{3}$", label=_("Currency"), error_messages={"invalid": _("Write USD.")})
    valid_from = forms.DateField(label=_("From"), widget=forms.DateInput(attrs={"type": "date"}))
    valid_to = forms.DateField(
        required=False, label=_("Until, without this day"), widget=forms.DateInput(attrs={"type": "date"})
    )
    source = forms.CharField(max_length=300, initial="contract", label=_("Where it is from"))
    moves_past = forms.BooleanField(required=False, label=_("Months that are over may move"))

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        for name, field in self.fields.items():
            if name != "moves_past":
                is_choice = isinstance(field, forms.ChoiceField)
                field.widget.attrs["class"] = "select" if is_choice else "input"
