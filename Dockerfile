# pubmill with everything it needs, for a CPU or an NVIDIA GPU:
#   docker build -t pubmill --build-arg BASE=python:3.11-slim@sha256:DIGEST --build-arg USER_ID="$(id -u)" .
#   docker run --rm -v "$PWD/results:/pubmill/results" pubmill --cores all --scheduler greedy --nolock
#   apptainer build pubmill.sif docker-daemon://pubmill:latest
# For a GPU, build with --build-arg BUILD=cuda (Linux x86-64 or arm64, CUDA 13) and run with `--gpus all`.
#
# BASE: a tag moves to newer images, a digest always names the same image. `docker buildx imagetools inspect
# python:3.11-slim` prints today's digest; specify it, and cite it with your results.
ARG BASE=python:3.11-slim
FROM ${BASE}

ARG BUILD=cpu
ARG USER_ID=1000
WORKDIR /pubmill
# Triton, which compiles kernels on a GPU, needs a C compiler at run time.
RUN case "$BUILD" in cuda) apt-get update \
    && apt-get install --yes --no-install-recommends gcc libc6-dev \
    && rm -rf /var/lib/apt/lists/* ;; esac
COPY requirements requirements
RUN pip install --no-cache-dir --use-pep517 --no-deps --require-hashes -r requirements/lock.txt \
    && case "$BUILD" in \
        cuda) pip install --no-cache-dir --no-deps --require-hashes -r requirements/cuda.txt ;; \
        cpu) pip install --no-cache-dir --no-deps --index-url https://download.pytorch.org/whl/cpu \
            "$(sed -n 's/^\(torch==[^ ]*\).*/\1+cpu/p' requirements/torch.txt)" ;; \
        *) echo "BUILD is $BUILD; expected cpu or cuda" >&2; exit 1 ;; \
    esac \
    && python -c "import torch"
# USER_ID owns the files written into a mounted folder.
RUN useradd --create-home --uid "$USER_ID" pubmill && chown pubmill /pubmill
USER pubmill
COPY --chown=pubmill . .
RUN python -m tests.world tests/world/mirror
ENTRYPOINT ["snakemake"]
