"""`python -m bmin`."""

from bmin.app import main

if __name__ == "__main__":
    main()
