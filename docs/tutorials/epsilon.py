# %% [markdown]
# # Choosing ε
#
# `docs/tutorials/epsilon.py`, run when this page was built.
#
# ε bounds what anybody learns about one person from the release, whatever else they know: every probability changes by a factor of at most
# e^ε. Small is safe and noisy. There is no right number, but there are right questions.
#
# ## 1. What does it mean for one person?
#
# Somebody wants to know whether one person is in the data, and would be right half of the time by tossing a coin. With the release
# they are right at most this often:

# %%
from math import exp

for epsilon in (0.1, 0.5, 1, 2, 4):
    print(f"ε = {epsilon:<4}  {100 * exp(epsilon) / (1 + exp(epsilon)):.0f} times out of 100")

# %% [markdown]
# That is the worst case, for an attacker who knows everything else. The certificate of every release states it for its own ε.
#
# ## 2. What unit, and how often?
#
# ε = 1 for everything that a person did in a month is a stronger promise than ε = 0.1 for each trip of somebody who makes twenty.
# Releases add up: twelve months at ε = 1 are ε = 12 for somebody who was there all year, and the
# [ledger](../operations/ledger.md) says so. Begin with the sum that you can answer for in public, and divide it by the releases that you
# will want.
#
# ## 3. What is the table worth at that budget?
#
# Ask before you spend. `hushway price plan.toml --epsilon .25,.5,1,2,4 --trips 40000 --people 15000 --picture errors.png` draws what figures
# will be off by. It tries the plan on an invented crowd, and touches neither rows nor budget.

# %%
from pathlib import Path

import hushway
from hushway.steward.demo import build_city

guesses = {
    "od": {"trips": 30_000, "people": 15_000},
    "density": {"trips": 200_000, "people": 20_000},
    "sequences": {},
    "links": {},
}
for name, guess in guesses.items():
    city = build_city(name, Path(name))
    picture = Path(name) / "errors.png"
    curve = hushway.price(city.plan, epsilon="1/4,1/2,1,2,4", picture=picture, **guess)
    what = "Errors to expect" if curve.foreseen else "Noise, one standard deviation"
    show(picture, f"{what} of {name}, by ε: {city.example.title}")

# %% [markdown]
# For trips and densities errors of what is published are foreseen from a guess of the crowd. For sequences and links the noise that goes in
# is shown; what is published is better than that.
#
# Turn the question round with `hushway price plan.toml --within "origins=5%" --trips 40000`: the smallest ε that is good enough.
#
# ## 4. What have others chosen?
#
# Google's Community Mobility Reports had ε = 2.64 for a person and a day, Meta's Movement Range Maps 2.0 for a person and a day, Google's
# trip flows 0.66 for a trip, Spectus 10 for a person. Mind the units: a person and a day, for a year, is 365 times as much.
#
# ## 5. Say how you chose
#
# `parameters_chosen = "without these rows"` in the plan is a statement that an approver answers for. A limit that was read off the rows, or an
# ε that was tried until the table looked right, is covered by no guarantee.
