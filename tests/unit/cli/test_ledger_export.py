import io

from hushway.cli.ledger import _write_csv


def test_an_export_holds_nothing_that_a_spreadsheet_would_run() -> None:
    text = io.StringIO()
    _write_csv(text, [{"dataset": "=1+1", "number": -3, "purpose": None, "release": "-2+3"}])
    assert text.getvalue() == "dataset,number,purpose,release\n'=1+1,-3,,'-2+3\n"
