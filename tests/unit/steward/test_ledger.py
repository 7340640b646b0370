from hushway.steward import ledger


def test_an_export_holds_nothing_that_a_spreadsheet_would_run() -> None:
    rows = [{"dataset": "=1+1", "number": -3, "purpose": None, "release": "-2+3"}]
    assert ledger._csv(rows) == "dataset,number,purpose,release\n'=1+1,-3,,'-2+3\n"
