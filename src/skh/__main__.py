"""``python -m skh`` is the command ``skh``."""

from skh.cli import main

if __name__ == "__main__":
    main()
