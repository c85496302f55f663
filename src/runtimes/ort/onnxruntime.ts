/** The part of onnxruntime-common's interface that we use; the package itself is resolved when a worker starts. */
export interface OnnxRuntime {
  readonly env: { readonly wasm: { numThreads?: number; wasmPaths?: unknown }; readonly webgpu?: { device?: unknown } }
  readonly InferenceSession: {
    create(model: string | Uint8Array, options: OrtSessionOptions): Promise<OrtSession>
  }
  readonly Tensor: new (type: string, data: OrtData, dims: readonly number[]) => OrtTensor
}

export type OrtData = ArrayBufferView | readonly string[]

export interface OrtTensor {
  readonly type: string
  readonly data: OrtData
  readonly dims: readonly number[]
  /** Absent before 1.16. */
  dispose?(): void
}

export interface OrtSessionOptions {
  readonly executionProviders: readonly string[]
  readonly graphOptimizationLevel: string
  readonly intraOpNumThreads: number
  readonly interOpNumThreads: number
  readonly executionMode: 'sequential'
  readonly logSeverityLevel: number
  /** Where the model is saved as it is after optimisation. */
  readonly optimizedModelFilePath?: string
  readonly externalData?: readonly { readonly path: string; readonly data: Uint8Array }[]
  readonly extra: { readonly session: Readonly<Record<string, string>> }
}

export interface OrtValueMetadata {
  readonly name: string
  readonly isTensor?: boolean
  readonly type?: string
  readonly shape?: readonly (number | string)[]
}

export interface OrtSession {
  readonly inputNames: readonly string[]
  readonly outputNames: readonly string[]
  /** Absent before 1.21. */
  readonly inputMetadata?: readonly OrtValueMetadata[]
  readonly outputMetadata?: readonly OrtValueMetadata[]
  /** Names of outputs, or memory for them by name (null: it makes its own); without either: all outputs. */
  run(
    feeds: Readonly<Record<string, OrtTensor>>,
    fetches?: readonly string[] | Readonly<Record<string, OrtTensor | null>>,
  ): Promise<Readonly<Record<string, OrtTensor>>>
  release(): Promise<void>
}
