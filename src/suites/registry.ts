import type { SuiteKind } from './contract.ts'
import { CONVERGENCE, RENEWAL } from './convergence/kind.ts'
import { BASELINE, DECODERS } from './decoders/kind.ts'
import { EXPECTATIONS } from './expectations/kind.ts'
import { FOLDERS } from './folders/kind.ts'
import { LAYERS } from './layers/kind.ts'
import { ONNX } from './onnx/kind.ts'

/** Every suite; where nothing is configured, `assay run` asks those of the first one's command. */
export const SUITES: readonly SuiteKind[] = [
  ONNX,
  FOLDERS,
  DECODERS,
  BASELINE,
  LAYERS,
  EXPECTATIONS,
  CONVERGENCE,
  RENEWAL,
]
