#!/usr/bin/env python3
"""Our kernels beside the TPU compiler's, by class of operation.

Usage: compare_kernels.py STAGES_DIR COMPILER.csv PROGRAM.hlo [--list [N]]

STAGES_DIR is what `ptxla-sim run --hlo PROGRAM.hlo --dump-to STAGES_DIR` wrote;
COMPILER.csv has the columns of tools that read the TPU compiler's decisions
(program, kind, name, opcode, root_opcode, out_shape, estimated_cycles,
iteration_bounds, ...). Prints one row per class: kernels, cycles, HBM bytes and
grid steps of ours and theirs; with --list the N longest kernels of each.
"""
import collections
import csv
import glob
import re
import sys


def parse_trace(path):
    """The `op` entries of a trace.textproto as dictionaries (nested: flattened)."""
    ops, op, inside = [], None, []
    for line in open(path):
        line = line.strip()
        if line.endswith('{'):
            inside.append(line[:-1].strip())
            if inside == ['op']:
                op = {}
        elif line == '}':
            if inside == ['op']:
                ops.append(op)
            inside.pop()
        elif inside and inside[0] == 'op':
            key, value = line.split(': ', 1)
            key = '.'.join(inside[1:] + [key])
            op[key] = value.strip('"') if value[0] == '"' else int(
                value) if re.fullmatch(r'-?\d+', value) else value
    return ops


def parse_scheduled(path):
    """Instruction name -> (opcode, fusion kind, opcodes inside, text)."""
    bodies, kinds, computation = collections.defaultdict(list), {}, None
    for line in open(path):
        if line[:1] in '%E' and line.rstrip().endswith('{'):
            computation = line.split()[1 if line[0] == 'E' else 0].lstrip('%')
        found = re.match(r'\s+(ROOT )?%?([\w.\-]+) = (.*)', line)
        if not found:
            continue
        name, rest = found.group(2), found.group(3)
        depth = 0
        at = 0
        if rest[0] == '(':  # A tuple shape.
            for at, c in enumerate(rest):
                depth += (c == '(') - (c == ')')
                if depth == 0:
                    break
        shape = rest[:at + 1] if at else rest.split(' ', 1)[0]
        opcode = re.match(r'\s*([\w\-]+)\(', rest[len(shape):])
        opcode = opcode.group(1) if opcode else '?'
        bodies[computation].append(opcode)
        calls = re.search(r'calls=%?([\w.\-]+)', rest)
        kind = re.search(r'kind=(\w+)', rest)
        kinds[name] = (opcode, kind.group(1) if kind else '',
                       calls.group(1) if calls else '', shape, rest)
    return {
        n: (o, k, bodies[c] if c else [], s, r)
        for n, (o, k, c, s, r) in kinds.items()
    }


COPIES = {'copy', 'transpose', 'reshape', 'broadcast', 'concatenate', 'pad',
          'reverse', 'slice', 'dynamic-slice', 'dynamic-update-slice'}
ASYNC = {'copy-start', 'copy-done', 'slice-start', 'slice-done'}


def scalar(shape):
    return re.fullmatch(r'\(?(\w+\[\](\{[^}]*\})?[, ]*)+\)?', shape) is not None


def class_of_ours(entry):
    opcode, kind, body, shape, _ = entry
    if 'scatter' in body or opcode == 'scatter':
        return 'scatter'
    if opcode == 'gather' or 'gather' in body:
        return 'gather'
    if 'dot' in body or opcode == 'dot' or 'convolution' in body + [opcode]:
        return 'product'
    if opcode in ASYNC:
        return 'asynchronous copy'
    if opcode.startswith('rng'):
        return 'random bits'
    if scalar(shape) and not ('reduce' in body or opcode == 'reduce'):
        return 'scalars'
    if 'reduce' in body or opcode == 'reduce':
        return 'reduction'
    if opcode in COPIES:
        return 'movement'
    return 'loop' if opcode != 'custom-call' else 'custom-call'


def class_of_theirs(row):
    opcode, root, emitter = row['opcode'], row['root_opcode'], row['emitter']
    name = row['name']
    if opcode in ASYNC:
        return 'asynchronous copy'
    if opcode == 'custom-call':
        return 'custom-call'
    if opcode == 'rng-bit-generator' or 'rng' in root:
        return 'random bits'
    if 'scatter' in root or 'scatter' in name:
        return 'scatter'
    if 'gather' in root or 'gather' in name:
        return 'gather'
    if 'Custom' in opcode:
        return 'custom-fusion'
    if 'ReduceWindow' in emitter:
        return 'reduction'
    if 'Output' in opcode or 'convolution' in opcode:
        return 'product'
    if opcode == 'reduce' or root == 'reduce' or 'reduce' in name:
        return 'reduction'
    if scalar(row['out_shape']):
        return 'scalars'
    if opcode in COPIES or root in ('copy', 'transpose', 'pad', 'bitcast'):
        return 'movement'
    return 'loop'


def steps(bounds):
    total = 1
    for b in re.findall(r'\d+', bounds):
        total *= int(b)
    return total


def main():
    stages, table, program = sys.argv[1:4]
    count = int(sys.argv[5]) if len(sys.argv) > 5 else 30
    trace = parse_trace(sorted(glob.glob(stages + '/*.trace.textproto'))[-1])
    hlo = parse_scheduled(sorted(glob.glob(stages + '/*.scheduled.hlo'))[-1])
    theirs = [r for r in csv.DictReader(open(table))
              if r['program'] == program and r['kind'] == 'kernel']
    sums = collections.defaultdict(lambda: [0] * 11)
    mine = []
    for op in trace:
        entry = hlo.get(op['name'], (op['opcode'], '', [], '', ''))
        c = class_of_ours(entry)
        s = sums[c]
        s[0] += 1
        s[1] += op.get('cycles', 0)
        s[2] += op.get('bytes', 0)
        s[3] += op.get('grid_steps', 0)
        s[8] += op.get('bound.overhead_ps', 0)
        s[9] += op.get('bound.hbm_ps', 0)
        mine.append((op.get('cycles', 0), c, op, entry))
    for r in theirs:
        s = sums[class_of_theirs(r)]
        s[4] += 1
        s[5] += int(float(r['estimated_cycles'] or 0))
        s[6] += int(r['operand_bytes'] or 0) if r['operand_bytes'].isdigit() else 0
        s[7] += steps(r['iteration_bounds'] or '')
    print(f"{'class':18} {'ours':>5} {'cycles':>10} {'hbm MB':>8} {'steps':>6} "
          f"{'ovh us':>7} {'hbm us':>7} | {'theirs':>6} {'cycles':>10} {'steps':>6}")
    for c, s in sorted(sums.items(), key=lambda x: -max(x[1][1], x[1][5])):
        print(f'{c:18} {s[0]:5} {s[1]:10} {s[2] / 1e6:8.1f} {s[3]:6} '
              f'{s[8] / 1e6:7.1f} {s[9] / 1e6:7.1f} | {s[4]:6} {s[5]:10} {s[7]:6}')
    total = [sum(s[i] for s in sums.values()) for i in range(10)]
    print(f"{'total':18} {total[0]:5} {total[1]:10} {total[2] / 1e6:8.1f} {total[3]:6} "
          f'{total[8] / 1e6:7.1f} {total[9] / 1e6:7.1f} | {total[4]:6} {total[5]:10} {total[7]:6}')
    if '--list' not in sys.argv:
        return
    print('\nours')
    mine.sort(key=lambda m: -m[0])
    for cycles, c, op, entry in mine[:count]:
        print(f"{cycles:9} {c:10} {op['name']:24} steps {op.get('grid_steps', 0):5} "
              f"mxu {op.get('busy.mxu', 0)} valu {op.get('busy.valu', 0)} xlu {op.get('busy.xlu', 0)} "
              f"ld {op.get('busy.load', 0)} st {op.get('busy.store', 0)} | bytes {op.get('bytes', 0)} | "
              f"hbm {op.get('bound.hbm_ps', 0) // 1000} ovh {op.get('bound.overhead_ps', 0) // 1000} ns | {entry[4][:150]}")
    print('\ntheirs')
    for r in sorted(theirs, key=lambda r: -float(r['estimated_cycles'] or 0))[:count]:
        print(f"{r['estimated_cycles']:>9} {class_of_theirs(r):10} {r['name']:24} {r['opcode']} {r['root_opcode']} "
              f"{r['out_shape']} {r['out_space']} <- {r['operand_shapes'][:120]} {r['operand_spaces']} "
              f"grid {r['iteration_bounds']} window {r['output_window']} {r['emitter']}")


if __name__ == '__main__':
    main()
