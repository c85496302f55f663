/** What the page is told about its work. */
export interface PageSettings {
  /** Address of onnxruntime-web's bundle on the page's own server. */
  readonly bundle: string
  readonly provider: string
  readonly ortVersion: string
  readonly threads: number
  /** `hardware`: a software adapter is not what was asked for. */
  readonly adapter: string
  /** The machine, where the page runs on ours; null: an unknown one, so that nothing it computes is kept. */
  readonly machine: string | null
}

/** Which worker serves the page; the next one has another. */
export interface Visit {
  readonly visit: string
}

/** The page's socket was closed because it knows why it cannot go on; the reason is in words. */
export const CANNOT_GO_ON = 4001
