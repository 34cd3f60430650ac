#!/usr/bin/env bash
# What only a GPU can show, one part a call, each in less than 9 minutes; in this order, most telling first:
#
#   benchmarks/gpu.sh [--rehearse] PART
#
# methods      BERT-base at 128 tokens by every method and by transformers' Trainer with and without
#              torch.compile: speed in three windows, seconds to compile, memory, clock, power
# profile      seconds of such a step by class of kernel
# tests        tests with real CUDA (tests/gpu/cuda_checks.py)
# pretraining  table of models, and pretraining.json, which pubmill plan reads
# finetuning   table of fine-tuning with scores on dev, and finetuning.json
# resume       programs that are killed and run again
# processes    two processes on one GPU, by gloo if NCCL refuses
# seeds        four seeds in one process, and in two and four at once
#
# The output is also in results/gpu/PART.md, messages in PART.log and figures in PART.json, all written line by
# line: what is there when the part fails or is stopped, after LIMIT seconds (540), stays. Figures are then copied
# to benchmarks/. The exit status is 1 after a failure, also of a method that a GPU should have. It needs a GPU,
# and a Python (PYTHON, default python3) from 3.11 with torch, transformers and pydantic; with accelerate, the tables
# compare with transformers' Trainer itself, else with its loop. --rehearse runs the same programs on any machine
# with less to do, and copies no figures. OUT: another folder than results/gpu.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
rehearse=
if [ "${1:-}" = --rehearse ]; then rehearse=--rehearse; shift; fi
parts="methods profile tests pretraining finetuning resume processes seeds"
if [ $# = 0 ]; then sed -n '2,24s/^# \{0,1\}//p' "$0"; exit 2; fi
part=$1
case " $parts " in *" $part "*) ;; *) echo "gpu.sh: unknown part $part; expected: $parts" >&2; exit 2 ;; esac
if [ $# != 1 ]; then echo "gpu.sh: one part a call; found: $*" >&2; exit 2; fi

"$python" - "$rehearse" <<'CHECK'
import importlib.util, sys
lacking = [name for name in ("torch", "transformers", "pydantic", "numpy", "safetensors", "tokenizers", "filelock")
           if importlib.util.find_spec(name) is None]
if sys.version_info < (3, 11) or lacking:
    sys.exit(f"gpu.sh: {sys.executable} is Python {sys.version.split()[0]} and lacks {', '.join(lacking) or 'nothing'}; "
             "expected Python 3.11 or later with torch, transformers and pydantic (set PYTHON)")
import torch
if not sys.argv[1] and not torch.cuda.is_available():
    sys.exit(f"gpu.sh: PyTorch {torch.__version__} finds no GPU; on another machine: benchmarks/gpu.sh --rehearse PART")
CHECK

export PYTHONUNBUFFERED=1
out=${OUT:-results/gpu} limit=${LIMIT:-540} quick=${rehearse:+--quick} code=0
mkdir -p "$out"
rm -f "$out/$part.md" "$out/$part.log" "$out/$part.json"
case $part in
    methods) set -- benchmarks/pretraining_methods.py $quick --output "$out/methods.json" ;;
    profile) set -- benchmarks/pretraining_methods.py $quick --profile ;;
    tests) set -- -m tests.gpu.cuda_checks $rehearse ;;
    pretraining) set -- benchmarks/pretraining.py --gpu $quick --output "$out/pretraining.json" ;;
    finetuning) set -- benchmarks/finetuning.py $quick --output "$out/finetuning.json" ;;
    resume | processes | seeds) set -- benchmarks/gpu_runs.py "$part" ;;
esac
run() { timeout --kill-after=10 "$limit" "$python" "$@"; }
end() {
    case $1 in
        0) return ;;
        124 | 137) echo "== $part was stopped after $limit s; what stands above is complete" ;;
        *) echo "== $part failed with status $1" ;;
    esac
}
echo "== $part"
# Figures and messages go through pipes of their own, so that both files are complete here.
{ { run "$@" 2>&3 | tee "$out/$part.md"; } 3>&1 1>&4 | tee "$out/$part.log" >&2; } 4>&1 || code=$?
end "$code" | tee -a "$out/$part.md"
if [ -z "$rehearse" ] && [ -f "$out/$part.json" ]; then cp "$out/$part.json" benchmarks/; fi
[ "$code" = 0 ]
