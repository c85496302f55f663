/** Variables by name, as a process has them. */
export type Environment = Readonly<Record<string, string | undefined>>

/** An empty variable counts as unset: whoever writes `ASSAY_PYTHON=` means none. */
export function setVariables(environment: Environment): Environment {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
}
