"""A worker of Assay that runs models with Python libraries; docs/worker-protocol.md says what it speaks."""
