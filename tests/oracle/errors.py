"""The three ways in which something can go wrong."""


class SyntaxProblem(Exception):
    """The text is not of the language, or uses a name that nothing declares."""

    def __init__(self, message, line):
        super().__init__("line %s: %s" % (line, message))
        self.message = message
        self.line = line


class TypeProblem(Exception):
    """An expression makes no sense, whatever the values are. The checker is expected to refuse such a model, too."""

    def __init__(self, message, line=None):
        super().__init__(message if line is None else "line %s: %s" % (line, message))
        self.message = message
        self.line = line


class Rejected(Exception):
    """The values of the parameters do not satisfy the conditions, or one of them is missing."""


class ModelError(Exception):
    """An error of the model: what `no_error` reports. It happens at run time, for particular values."""

    def __init__(self, message, line=None):
        super().__init__(message if line is None else "%s (line %s)" % (message, line))
        self.message = message
        self.line = line
