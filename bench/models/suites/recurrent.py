"""DeepBench's recurrent layers: one LSTM, GRU or RNN operator each."""
import functools
import itertools

from gen import keep_residue
from nets import recurrent as nets


def _published():
    for hidden, steps in itertools.product((2816, 2048, 1536, 2560), (1500, 750, 375, 187)):
        for batch in (32, 1, 2, 4):
            yield "gru", hidden, batch, steps
    yield "gru", 512, 32, 1
    for batch in (32, 64):
        yield "gru", 1024, batch, 1500
    for hidden, batch in itertools.product((512, 1024, 2048, 4096), (16, 32, 64, 128)):
        yield "lstm", hidden, batch, 25
    for batch in (8, 16, 32):
        yield "lstm", 1536, batch, 50
    for batch in (16, 32, 64):
        yield "lstm", 256, batch, 150
    for hidden, batch in itertools.product((1760, 2048, 2560), (16, 32, 64, 128)):
        yield "rnn", hidden, batch, 50


def cases(scale):
    """At scale ci: hidden numbers up to 256, batches up to 32, five steps; each size once."""
    found = {}
    for kind, hidden, batch, steps in _published():
        if scale == "ci":
            hidden, batch = keep_residue(hidden, 256), min(batch, 32)
            steps = min(steps, 5)
        name = f"{kind}_{hidden}_b{batch}_t{steps}"
        found[name] = functools.partial(
            nets.operator, kind=kind, hidden=hidden, batch=batch, steps=steps)
    return list(found.items())
