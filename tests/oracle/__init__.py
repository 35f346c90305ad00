"""A second, independent meaning of the language of rondo, written from docs/language.md alone."""

import sys
import threading


def with_deep_stack(function):
    """Call a function where defs of the model may call themselves 2000 deep, and return its result."""
    sys.setrecursionlimit(200000)
    threading.stack_size(512 * 1024 * 1024)
    result = {}

    def run():
        try:
            result["value"] = function()
        except BaseException as error:
            result["error"] = error

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if "error" in result:
        raise result["error"]
    return result["value"]
