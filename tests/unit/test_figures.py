"""Charts by their structure: traces, axes, gaps, names; and the theme that pages and figures share."""

from __future__ import annotations

import json
from datetime import date, timedelta
from decimal import Decimal

import plotly.graph_objects as go
import pytest

from billing.charts import daily_spend, team_spend
from billing.domain.month_spend import MONEY_STATES, MonthSpend
from common.figures import TEMPLATE_JSON, TOKENS_FILE, token_pairs

WORDS = {state: state.title() for state in (*MONEY_STATES, "beside")}
DAYS = [date(2025, 6, 1) + timedelta(days=index) for index in range(30)]


def test_a_day_without_rows_is_a_gap_and_a_zero_day_is_not() -> None:
    spend = {DAYS[0]: MonthSpend({"working": Decimal("3.5")}), DAYS[2]: MonthSpend({"held": Decimal(1)})}
    figure = daily_spend(DAYS, spend, "USD", WORDS)
    working = figure["data"][0]
    assert working["y"][:3] == [3.5, None, 0.0]
    assert working["x"][0] == "2025-06-01T12:00"
    assert figure["layout"]["xaxis"]["range"] == ["2025-06-01T00:00", "2025-07-01T00:00"]
    assert figure["layout"]["barmode"] == "stack"


def test_states_that_nobody_had_draw_nothing() -> None:
    figure = daily_spend(DAYS, {DAYS[0]: MonthSpend({"empty": Decimal(1)}, beside=Decimal(2))}, "EUR", WORDS)
    assert [trace["name"] for trace in figure["data"]] == ["Empty", "Beside"]
    assert figure["data"][0]["hovertemplate"] == "Empty €%{y:,.2f}<extra></extra>"


@pytest.mark.parametrize("top", ["0.0001", "0.07", "3", "999", "1672930", "12345678901"])
def test_a_money_axis_has_few_round_ticks_and_holds_everything(top: str) -> None:
    figure = daily_spend(DAYS, {DAYS[0]: MonthSpend({"working": Decimal(top)})}, "USD", WORDS)
    axis = figure["layout"]["yaxis"]
    assert 2 <= len(axis["tickvals"]) <= 6
    assert axis["range"][1] >= float(top)


def test_team_names_are_escaped_and_shortened() -> None:
    name = "<a href='javascript:1'>click here please</a>"
    figure = team_spend([name], [MonthSpend({"working": Decimal(10)})], "USD", WORDS)
    assert figure["layout"]["yaxis"]["ticktext"] == ["&lt;a href=&#x27;javascript:1…"]
    assert figure["layout"]["annotations"][0]["text"] == "$10.00"


def test_no_bold_tags_and_no_webgl() -> None:
    spend = [MonthSpend({"working": Decimal(10)})]
    text = json.dumps([team_spend(["a"], spend, "USD", WORDS), TEMPLATE_JSON])
    assert "<b>" not in text
    assert {trace["type"] for trace in team_spend(["a"], spend, "USD", WORDS)["data"]} == {"bar"}


def test_every_colour_of_a_figure_is_a_token_of_the_page() -> None:
    css = TOKENS_FILE.read_text(encoding="utf-8")
    spend = MonthSpend({state: Decimal(1) for state in MONEY_STATES}, beside=Decimal(1))
    figure = daily_spend(DAYS, {DAYS[0]: spend}, "USD", WORDS)
    colours = {trace["marker"]["color"] for trace in figure["data"]}
    assert len(colours) == 7
    assert all(f"{colour[4:-1]}:" in css for colour in colours)
    assert token_pairs(css)["working"] == ("#14507f", "#4a90ce")


def test_plotly_takes_every_value_of_a_figure() -> None:
    spend = MonthSpend({state: Decimal(2) for state in MONEY_STATES}, beside=Decimal(1))
    for figure in (
        daily_spend(DAYS, {DAYS[0]: spend}, "USD", WORDS),
        team_spend(["a", "b"], [spend] * 2, "USD", WORDS),
    ):
        go.Figure(figure)  # raises ValueError for a name or value that Plotly does not know
    with pytest.raises(ValueError, match="barmode"):
        go.Figure({"layout": {"barmode": "heap"}})
