# openworld on a CPU, with what the demo needs:
#
#     docker build -t openworld .
#     docker run --rm -v "$PWD:/data" openworld demo
#     docker run --rm -v "$PWD:/data" openworld score predictions.csv
#
# Encoded images and weights are kept in /cache: -v openworld-cache:/cache keeps them between runs.
FROM python:3.11-slim-bookworm AS build
WORKDIR /source
COPY . .
# Give the index of PyTorch's CPU builds, which are a tenth of the size: docker build --build-arg PIP_EXTRA_INDEX_URL=...
ARG PIP_EXTRA_INDEX_URL
RUN python -m venv /opt/openworld \
    && /opt/openworld/bin/pip install --no-cache-dir -c constraints.txt '.[models,plots,onnx]'

FROM python:3.11-slim-bookworm
COPY --from=build /opt/openworld /opt/openworld
RUN useradd --create-home --uid 1000 openworld && mkdir /data /cache && chown 1000 /data /cache
ENV PATH=/opt/openworld/bin:$PATH OPENWORLD_CACHE=/cache HF_HOME=/cache/hugging-face
USER 1000
WORKDIR /data
VOLUME /cache
ENTRYPOINT ["openworld"]
CMD ["--help"]
