"""`python -m windrow`: the command line, for processes that know their interpreter only."""

from windrow.cli import main

if __name__ == "__main__":
    main()
