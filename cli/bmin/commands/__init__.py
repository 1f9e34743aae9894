"""One module a command: `command` is the function, its options are the command's."""
