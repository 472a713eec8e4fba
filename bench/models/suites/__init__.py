"""The suites: each has `cases(scale)`, pairs of a name and a function of (name, seed)."""
from . import classes, core40, deepbench, models, narrow, recurrent, roller

SUITES = {
    "models": models.cases,
    "roller": roller.cases,
    "deepbench": deepbench.cases,
    "recurrent": recurrent.cases,
    "core40": core40.cases,
    "classes": classes.cases,
    "narrow": narrow.cases,
}
