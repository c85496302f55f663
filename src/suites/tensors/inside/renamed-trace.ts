import type { Trace } from '../../../domain/tensor.ts'

/** The same tensors under other names. */
export function renamedTrace({ values, tensors }: Trace, names: ReadonlyMap<string, string>): Trace {
  const rename = (name: string) => names.get(name) ?? name
  return {
    values: values.map((value) => ({ ...value, name: rename(value.name) })),
    tensors: new Map(Array.from(tensors, ([name, source]) => [rename(name), { ...source, name: rename(name) }])),
  }
}
