/** Training that `assay run` replays; paths as `assay converge` takes them. */
export interface ConvergenceSettings {
  readonly testConfigPath: string
  readonly storagePath: string
  readonly manifestName?: string
  readonly root?: string
}

export interface ConvergenceSections {
  readonly convergence?: readonly ConvergenceSettings[]
}
