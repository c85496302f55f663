import { expect } from 'vitest'
import { toMatchReference } from './library/match-reference.ts'
import type { TestOnnxOptions } from './library/test-onnx.ts'

expect.extend({ toMatchReference })

declare module 'vitest' {
  // biome-ignore lint/suspicious/noExplicitAny: an interface is extended only with the very same parameters.
  interface Matchers<T = any> {
    /** The model at this path gives on the target what the reference gives. */
    toMatchReference(options?: TestOnnxOptions): Promise<void>
  }
}
