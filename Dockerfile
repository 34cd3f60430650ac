# pubmill with everything it needs, on a processor or an NVIDIA GPU:
#   docker build -t pubmill .
#   docker run --rm -v "$PWD/results:/pubmill/results" pubmill --cores all --scheduler greedy --nolock
#   apptainer build pubmill.sif docker-daemon://pubmill:latest
# On a GPU, add `--gpus all` and build with --build-arg TORCH_INDEX=https://download.pytorch.org/whl/cu128
FROM python:3.11-slim

ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
WORKDIR /pubmill
COPY requirements requirements
RUN pip install --no-cache-dir --use-pep517 --no-deps --require-hashes -r requirements/lock.txt \
    && pip install --no-cache-dir --no-deps --index-url "$TORCH_INDEX" -r requirements/torch.txt
COPY . .
RUN python -m tests.world tests/world/mirror
ENTRYPOINT ["snakemake"]
