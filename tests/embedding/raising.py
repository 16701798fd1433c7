"""What tests expect to be refused."""

from contextlib import contextmanager


@contextmanager
def raises(kind, *texts):
    try:
        yield
    except kind as error:
        for text in texts:
            assert text in str(error), error
    else:
        raise AssertionError(f"no {kind.__name__}")
