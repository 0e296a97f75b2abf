"""Everything with money: prices, provisional cost, team-days; bills, budgets and reports build on them."""
