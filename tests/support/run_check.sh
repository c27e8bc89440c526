#!/bin/sh
# Runs the "// RUN:" lines of one test file, as LLVM's lit does.
#
#   run_check.sh FILE PATH_OF_PTXLA_OPT PATH_OF_PTXLA_SIM PATH_OF_FILECHECK
#
# In a RUN line, %s is the file, and the words ptxla-opt, ptxla-sim and FileCheck
# name the programs: // RUN: ptxla-opt --passes=dce %s | FileCheck %s
# Every line must succeed, every part of its pipes included. PTXLA_CHECK_UNDER is
# a program that ptxla-opt runs under: "valgrind -q --error-exitcode=99".
set -u
file=$1
opt=$2
sim=$3
filecheck=$4
lines=$(sed -n 's|^[ ]*// RUN: *||p' "$file")
if [ -z "$lines" ]; then
  echo "$file has no RUN line" >&2
  exit 1
fi
printf '%s\n' "$lines" | while IFS= read -r line; do
  command=$(printf '%s' "$line" |
    sed -e "s|%s|$file|g" -e "s|\\bptxla-opt\\b|${PTXLA_CHECK_UNDER:-} $opt|g" \
      -e "s|\\bptxla-sim\\b|$sim|g" -e "s|\\bFileCheck\\b|$filecheck|g")
  if ! bash -o pipefail -c "$command" </dev/null; then
    echo "failed: $line" >&2
    exit 1
  fi
done
