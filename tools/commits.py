#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Checks commits against the rules of CONTRIBUTING.md.

    commits.py message FILE      the message that is about to be committed, with the staged changes;
                                 tools/hooks/commit-msg calls this
    commits.py history [BASE]    all commits after BASE (default: the commit from which the rules
                                 hold); prints TAP

The rules:

    * The subject has 1 to 72 characters and does not begin with "wip", "fixup!" or "squash!".
    * A blank line separates the subject from the body.
    * A body says why. A change of at most 30 lines, added and deleted, may do without.
    * No merge commits: branches are rebased.

`history` prints one skipped test if BASE is not in the history, as in a shallow clone or after a
squash: what came after it is then unknown.
"""

import re
import subprocess
import sys

BASE = "87438ccf3eef056238a93d923e37528c6d6463b5"
SUBJECT_MAX = 72
TRIVIAL_LINES = 30
UNFINISHED = re.compile(r"(wip|fixup!|squash!|amend!)(\W|$)", re.I)
SCISSORS = "# ------------------------ >8"


def git(*words):
    """Output of a git command; None if it fails."""
    run = subprocess.run(["git", *words], capture_output=True, text=True, check=False)
    return run.stdout if run.returncode == 0 else None


def cleaned(text):
    """A message as git stores it: without comments and without the diff of `commit -v`."""
    text = text.partition(SCISSORS)[0]
    lines = [line.rstrip() for line in text.splitlines() if not line.startswith("#")]
    return "\n".join(lines).strip("\n")


def changed_lines(numstat):
    """Lines added and deleted, from `git diff --numstat`; a binary file counts as one line."""
    counts = [line.split("\t")[:2] for line in numstat.splitlines() if line.strip()]
    return sum(int(n) if n != "-" else 1 for pair in counts for n in pair)


def problems(message, lines):
    """What is wrong with a message for a change of so many lines."""
    subject, _, rest = message.partition("\n")
    if not subject:
        yield "the subject is empty"
    if len(subject) > SUBJECT_MAX:
        yield f"the subject has {len(subject)} characters, at most {SUBJECT_MAX} are allowed"
    if UNFINISHED.match(subject):
        yield f"the subject begins with '{subject.split()[0]}': finish or squash the commit first"
    if rest and not rest.startswith("\n"):
        yield "the second line is not blank"
    if not rest.strip() and lines > TRIVIAL_LINES:
        yield (f"{lines} lines change and the message has no body: say why "
               f"(a change of at most {TRIVIAL_LINES} lines needs no body)")


def check_message(path):
    """Checks the message in a file. Returns the exit code."""
    with open(path, encoding="utf-8") as file:
        message = cleaned(file.read())
    if not message:
        return 0  # git itself refuses it, or the user has given up.
    found = list(problems(message, changed_lines(git("diff", "--cached", "--numstat") or "")))
    if git("rev-parse", "--verify", "--quiet", "MERGE_HEAD"):
        found.append("this is a merge: rebase the branch instead")
    for problem in found:
        print(f"commit-msg: {problem}", file=sys.stderr)
    return 1 if found else 0


def commits_since(base):
    """(hash, parents, message, changed lines) of each commit after a base."""
    for name in (git("rev-list", "--reverse", f"{base}..HEAD") or "").split():
        parents, _, message = git("show", "-s", "--format=%P%n%B", name).partition("\n")
        numstat = git("show", "--numstat", "--format=", name) or ""
        yield name, parents.split(), message.strip("\n"), changed_lines(numstat)


def check_history(base):
    """Prints TAP. Returns the exit code."""
    if git("rev-parse", "--verify", "--quiet", "HEAD") is None:
        print("ok commits # skip this is not a git repository")
        return 0
    if git("merge-base", "--is-ancestor", base, "HEAD") is None:
        print(f"ok commits # skip {base[:12]} is not in the history (a shallow clone or a squash)")
        return 0
    count, bad = 0, 0
    for name, parents, message, lines in commits_since(base):
        found = list(problems(message, lines))
        if len(parents) > 1:
            found.append("it is a merge commit: rebase the branch instead")
        for problem in found:
            print(f"not ok {name[:12]} {message.splitlines()[0]!r}: {problem}")
        count, bad = count + 1, bad + bool(found)
    if not bad:
        print(f"ok {count} commits after {base[:12]} follow the rules")
    return 1 if bad else 0


def main(arguments):
    """Command line; returns the exit code."""
    match arguments:
        case ["message", path]:
            return check_message(path)
        case ["history"]:
            return check_history(BASE)
        case ["history", base]:
            return check_history(base)
        case _:
            print(__doc__, file=sys.stderr)
            return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
