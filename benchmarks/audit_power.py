"""What audits with so many runs can prove and find.

python benchmarks/audit_power.py
"""

from fractions import Fraction

from hushway.auditing.bounds import power_of
from hushway.auditing.runs import FEWEST_RUNS, NEEDED_RUNS, QUICK_RUNS, USUAL_RUNS
from hushway.auditing.suite import EPSILONS


def main() -> None:
    """Prints a table."""
    claims = "".join(f" found where ε {epsilon} is claimed |" for epsilon in EPSILONS)
    print(f"| runs | can prove at most |{claims}\n|---|---|{'---|' * len(EPSILONS)}")
    for runs in (FEWEST_RUNS, QUICK_RUNS, NEEDED_RUNS, USUAL_RUNS):
        most = power_of(runs, EPSILONS[0]).epsilon_provable
        found = "".join(f" {_found(runs, epsilon)} |" for epsilon in EPSILONS)
        print(f"| {runs:,} | {most:.2f} |{found}")


def _found(runs: int, epsilon: Fraction) -> str:
    detected = power_of(runs, epsilon).epsilon_detected
    return "none" if detected is None else f"{detected:.2f} or more"


if __name__ == "__main__":
    main()
