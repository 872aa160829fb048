"""`python -m whence.cli`: the same as `whence`."""

from whence.cli.commands.app import main

if __name__ == "__main__":
    main()
