import { ROW_WASM } from './wasm.gen.ts'

let compiled: WebAssembly.Module | undefined

/** Compiled once per process or page. */
export function rowModule(): WebAssembly.Module {
  compiled ??= new WebAssembly.Module(Uint8Array.from(atob(ROW_WASM), (letter) => letter.charCodeAt(0)))
  return compiled
}
