"""Runs seeded random HLO modules with `run --verify` on all kinds of chips.

    verify_random.py PTXLA_SIM [--first 1] [--count 400] [--keep FOLDER]

Every module must compute what the evaluator computes, or be refused with a
documented exit code (docs/hlo.md): wrong numbers, crashes and runs without end
fail. Modules are those of random_hlo/: every second seed is a program of loops
and branches around large arrays, the others are single operations. A seed is
the same module and chip every time. --keep writes the modules that failed into
FOLDER.
"""

import argparse
import collections
import concurrent.futures
import os
import subprocess
import sys
import tempfile

from random_hlo import random_module
from random_hlo.programs import random_program

CHIPS = ['v6e-1', 'v3-8', 'v5p:1x1x1', 'v4:1x1x1', 'tpu7x:1x1x1', 'v5e-1']
SECONDS = 60
# Runs; is refused as the user's mistake, for its size, for what is not built.
RIGHT = {0: 'right', 2: 'for other devices', 3: 'too large', 5: 'refused'}


def module_of(seed):
    return (random_program(seed // 2) if seed % 2 else random_module(seed)).text


def verify(sim, seed, folder):
    """(seed, chip, exit code or what happened, first line of the errors)"""
    chip = CHIPS[seed // 2 % len(CHIPS)]
    path = os.path.join(folder, f'{seed}.hlo')
    with open(path, 'w', encoding='utf-8') as file:
        file.write(module_of(seed))
    command = [sim, 'run', '--hlo', path, '--topology', chip, '--db', 'none', '--verify']
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return seed, chip, 'no end', f'{SECONDS} s were not enough'
    if run.returncode in RIGHT:
        os.remove(path)
    return seed, chip, run.returncode, (run.stderr.splitlines() or [''])[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('sim')
    parser.add_argument('--first', type=int, default=1)
    parser.add_argument('--count', type=int, default=400)
    parser.add_argument('--keep')
    options = parser.parse_args()
    counts = collections.Counter()
    failed = 0
    with tempfile.TemporaryDirectory() as scratch, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        folder = options.keep or scratch
        os.makedirs(folder, exist_ok=True)
        seeds = range(options.first, options.first + options.count)
        for seed, chip, code, line in pool.map(
                lambda seed: verify(options.sim, seed, folder), seeds):
            counts[RIGHT.get(code, 'FAILED')] += 1
            if code not in RIGHT:
                failed += 1
                print(f'seed {seed} on {chip}: {code}: {line}')
    print(', '.join(f'{n} {what}' for what, n in sorted(counts.items())))
    # Of what runs on one device most is right: a refusal of everything is none.
    if counts['right'] < options.count // 4:
        print('too few ran')
        failed += 1
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
