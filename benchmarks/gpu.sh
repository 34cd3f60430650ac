#!/usr/bin/env bash
# Everything that only a GPU can show, each part in less than 9 minutes:
#
#   benchmarks/gpu.sh [--rehearse] PART...
#
# tests        tests with real CUDA (tests/gpu/cuda_checks.py)
# pretraining  table of models, and pretraining.json, which scripts/plan.py reads
# finetuning   table of fine-tuning with scores on dev, and finetuning.json
# resume       programs that are killed and run again
# processes    two processes on one GPU, by gloo if NCCL refuses
#
# Each part's output is also in results/gpu/PART.md, and its JSON file in benchmarks/. It needs a GPU, and a Python
# (PYTHON, default python3) from 3.11 with torch and transformers; with accelerate, the tables compare with
# transformers' Trainer itself, else with its loop. --rehearse runs the same programs on any machine with less to do;
# its JSON files are in results/gpu too. OUT: another folder than results/gpu.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
rehearse=
if [ "${1:-}" = --rehearse ]; then rehearse=--rehearse; shift; fi
parts="tests pretraining finetuning resume processes"
if [ $# = 0 ]; then sed -n '2,16s/^# \{0,1\}//p' "$0"; exit 2; fi
for part in "$@"; do
    case " $parts " in *" $part "*) ;; *) echo "gpu.sh: unknown part $part; expected: $parts" >&2; exit 2 ;; esac
done

"$python" - "$rehearse" <<'CHECK'
import importlib.util, sys
lacking = [name for name in ("torch", "transformers", "numpy", "safetensors", "tokenizers", "filelock")
           if importlib.util.find_spec(name) is None]
if sys.version_info < (3, 11) or lacking:
    sys.exit(f"gpu.sh: {sys.executable} is Python {sys.version.split()[0]} and lacks {', '.join(lacking) or 'nothing'}; "
             "expected Python 3.11 or later with torch and transformers (set PYTHON)")
import torch
if not sys.argv[1] and not torch.cuda.is_available():
    sys.exit(f"gpu.sh: PyTorch {torch.__version__} finds no GPU; on another machine: benchmarks/gpu.sh --rehearse PART")
CHECK

out=${OUT:-results/gpu}
mkdir -p "$out"
quick=${rehearse:+--quick}
figures=benchmarks
if [ -n "$rehearse" ]; then figures=$out; fi
run() {
    case $1 in
        tests) timeout 540 "$python" -m tests.gpu.cuda_checks $rehearse ;;
        pretraining) timeout 540 "$python" benchmarks/pretraining.py --gpu $quick --output "$figures/pretraining.json" ;;
        finetuning) timeout 540 "$python" benchmarks/finetuning.py $quick --output "$figures/finetuning.json" ;;
        resume | processes) timeout 540 "$python" benchmarks/gpu_runs.py "$1" ;;
    esac
}
for part in "$@"; do
    echo "== $part"
    run "$part" | tee "$out/$part.md"
done
