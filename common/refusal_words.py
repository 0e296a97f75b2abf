"""What errors say to readers of another language than English: by code, without the details that the English text has.

Errors carry an English sentence with names and numbers in it, for the command line, logs and the API. A page in another
language says the code's sentence and remedy; where the details help, the page shows the English text beside.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from common.errors import FleetledgerError
from common.words import sentences

CHECK_ADDRESS = _("Check the address, and that it can be reached from this server.")
CHECK_SELECTOR = _("Narrow the source with its selector, or raise the server’s limit.")
CHECK_SIGN_IN = _("Check what the source signs in with.")
TRIED_AGAIN = _("It is tried again by itself.")
AS_LISTED = _("Take one from the list.")

REFUSAL_WORDS: Mapping[str, tuple[Any, Any]] = {
    # what an address of a page asks for
    "bad_month": (_("This is no month."), _("Write 2025-06.")),
    "bad_date": (_("This is no date."), _("Write 2025-06-30.")),
    "bad_time": (_("This is no time."), _("Write 2025-06-30T12:00:00Z.")),
    "bad_number": (_("This is no number that fits here."), ""),
    "bad_choice": (_("This is none of the choices."), AS_LISTED),
    "bad_filter": (_("There is no such filter."), _("Choose the filters on the page.")),
    "bad_page": (_("There is no such page of the list."), _("Pages count from 1.")),
    "bad_file_form": (_("There is no such form of file."), _("There are csv, csv-raw and xlsx.")),
    "unknown_column": (_("There is no such column to sort by."), _("Sort by a heading of the table.")),
    "long_search": (_("This text is too long to search for."), _("At most 200 characters.")),
    "bad_view_name": (_("A view needs a name of 1 to 80 characters."), _("Say what it shows.")),
    "bad_view_path": (_("This is no address of a page here."), _("Save it from the page itself.")),
    "view_name_taken": (_("You have a view of this name already."), _("Choose another name.")),
    "too_many_views": (_("There are 30 saved views already."), _("Remove one first.")),
    "unknown_view": (_("There is no such saved view."), _("Open the list of saved views.")),
    "unknown_team": (_("There is no such team."), AS_LISTED),
    "unknown_instance": (_("There is no such machine."), _("Take it from the list of machines.")),
    "ambiguous_instance": (_("Several accounts have a machine of this name."), _("Open it from the list of machines.")),
    # what a source did not do
    "dns_failed": (_("Its name can’t be resolved."), CHECK_ADDRESS),
    "source_down": (_("Nobody answers at its address."), CHECK_ADDRESS),
    "source_timeout": (_("It did not answer in time."), TRIED_AGAIN),
    "query_timeout": (_("It did not answer in time."), TRIED_AGAIN),
    "tls_failed": (_("Its certificate is not trusted."), _("Name the authority that signed it in the source.")),
    "auth_failed": (_("It does not accept the credentials."), CHECK_SIGN_IN),
    "auth_forbidden": (_("It forbids this to the credentials."), CHECK_SIGN_IN),
    "login_page": (
        _("It answers with a page for people: a sign-in stands before it."),
        _("Use the address behind the proxy, or give the source a token."),
    ),
    "not_prometheus": (_("What answers there does not speak Prometheus’ API."), CHECK_ADDRESS),
    "answer_too_big": (_("Its answer is larger than may be read."), CHECK_SELECTOR),
    "source_overloaded": (_("It is overloaded."), TRIED_AGAIN),
    "source_failed": (_("It answered with an error of its own."), TRIED_AGAIN),
    "query_rejected": (_("It rejected the question."), CHECK_SELECTOR),
    "too_many_samples": (_("The question is too large for it."), CHECK_SELECTOR),
    "too_many_points": (_("The question is too large for it."), CHECK_SELECTOR),
    "range_too_long": (_("The question is too large for it."), CHECK_SELECTOR),
    "unknown_kind": (_("This process does not read sources of this kind."), ""),
    "secret_missing": (
        _("The variable or file with its secret is not there."),
        _("Set it for the web process and the worker."),
    ),
    # what a check found
    "no_gpu_metrics": (
        _("There are no GPU metrics."),
        _("Run an exporter on the GPU machines and let this Prometheus scrape it."),
    ),
    "unknown_gpu_metrics": (
        _("There are GPU metrics, but none has a name that is known here."),
        _("Relabel them as the reference of signals lists them."),
    ),
    "no_gpu_series": (
        _("The selector matches no series with points of the last hour."),
        _("Check the selector of the source, and that the exporters are scraped."),
    ),
    "source_late": (
        _("Its newest point is more than 6 minutes old."),
        _("Exporters have stopped, or the clocks differ."),
    ),
    "clock_ahead": (_("Its newest point lies in the future."), _("The clocks differ: set them by NTP.")),
    "source_partial": (_("The last answer was not whole."), _("The rest is read again.")),
    "bad_samples": (_("Values were dropped at the last pull."), _("The reference of codes says what each kind means.")),
    "no_source": (_("No source is connected."), _("Connect one under “First steps”.")),
    "not_supported_yet": (_("This account is kept, but not read yet."), _("List its machines by hand until then.")),
    "late": (_("A job of ours has not completed in time."), _("Is the worker running?")),
    "channel_broken": (_("The other side refused for good."), _("Mend its address.")),
    "channel_failing": (_("No message was accepted lately."), TRIED_AGAIN),
}


def refusal_words(code: str, message: str, hint: str) -> tuple[str, str]:
    """Give what is wrong and what to do: the detailed English text as it is, else the words of the code."""
    words = REFUSAL_WORDS.get(code)
    if words is None or (get_language() or settings.LANGUAGE_CODE) == settings.LANGUAGE_CODE:
        return message, hint
    return str(words[0]), str(words[1])


def told(error: FleetledgerError) -> str:
    """Say an error to the reader of a page."""
    return sentences(*refusal_words(error.code, error.message, error.hint))
