"""`python -m hushway` is the `hushway` command."""

from hushway.cli.app import main

if __name__ == "__main__":
    main()
