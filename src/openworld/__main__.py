"""`python -m openworld` is `openworld`."""

from openworld.cli import main

if __name__ == "__main__":
    main()
