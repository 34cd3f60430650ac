#!/usr/bin/env bash
# Everything that only a GPU can show, each part in less than 9 minutes:
#
#   benchmarks/gpu.sh [--rehearse] PART...
#
# tests        tests with real CUDA (tests/gpu/cuda_checks.py)
# pretraining  table of models, and pretraining.json, which pubmill plan reads
# finetuning   table of fine-tuning with scores on dev, and finetuning.json
# resume       programs that are killed and run again
# processes    two processes on one GPU, by gloo if NCCL refuses
#
# Each part's output is also in results/gpu/PART.md, its messages in PART.log and its figures in PART.json, all
# written line by line: what is there when a part fails or is stopped stays. The figures are then copied to
# benchmarks/. A call ends after LIMIT seconds (540); the parts after a failed one still run, and the exit status
# is 1. It needs a GPU, and a Python (PYTHON, default python3) from 3.11 with torch and transformers; with
# accelerate, the tables compare with transformers' Trainer itself, else with its loop. --rehearse runs the same
# programs on any machine with less to do, and copies no figures. OUT: another folder than results/gpu.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
rehearse=
if [ "${1:-}" = --rehearse ]; then rehearse=--rehearse; shift; fi
parts="tests pretraining finetuning resume processes"
if [ $# = 0 ]; then sed -n '2,19s/^# \{0,1\}//p' "$0"; exit 2; fi
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

export PYTHONUNBUFFERED=1
out=${OUT:-results/gpu} limit=${LIMIT:-540} quick=${rehearse:+--quick} left= status=0
mkdir -p "$out"
run() {
    case $1 in
        tests) set -- -m tests.gpu.cuda_checks $rehearse ;;
        pretraining) set -- benchmarks/pretraining.py --gpu $quick --output "$out/pretraining.json" ;;
        finetuning) set -- benchmarks/finetuning.py $quick --output "$out/finetuning.json" ;;
        resume | processes) set -- benchmarks/gpu_runs.py "$1" ;;
    esac
    timeout --kill-after=10 "$left" "$python" "$@"
}
end() {
    case $1 in
        0) return ;;
        124 | 137) echo "== $part was stopped after $left s; what stands above is complete" ;;
        *) echo "== $part failed with status $1" ;;
    esac
}
for part in "$@"; do
    left=$((limit - SECONDS))
    echo "== $part"
    if [ "$left" -lt 1 ]; then echo "== $part was not started: the $limit s are over"; status=1; continue; fi
    rm -f "$out/$part.md" "$out/$part.log" "$out/$part.json"
    code=0
    # Figures and messages go through pipes of their own, so that both files are complete here.
    { { run "$part" 2>&3 | tee "$out/$part.md"; } 3>&1 1>&4 | tee "$out/$part.log" >&2; } 4>&1 || code=$?
    end "$code" | tee -a "$out/$part.md"
    if [ "$code" != 0 ]; then status=1; fi
    if [ -z "$rehearse" ] && [ -f "$out/$part.json" ]; then cp "$out/$part.json" benchmarks/; fi
done
exit "$status"
