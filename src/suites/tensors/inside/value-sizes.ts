import { DTYPES, type DType } from '../../../domain/dtype.ts'
import { StageError } from '../../../domain/errors.ts'
import { elementCount, type Trace } from '../../../domain/tensor.ts'
import { type FilePart, openPart } from '../../../files/disk/file-part.ts'
import type { FlatModel } from '../../../onnx/flatten.ts'
import type { OnnxModel } from '../../../onnx/model.ts'
import { shapeModel, shapeName } from '../../../onnx/taps.ts'
import { decodeBigInts } from '../../../tensors/decode.ts'
import { readWhole } from '../../../tensors/read-whole.ts'
import type { RunEdited } from './edited-run.ts'

/** Of values whose dtype is not known before they are computed. */
const USUAL_BYTES = 4

/** They make sequences and optionals, which workers cannot return. */
const MAKE_NO_TENSORS = new Set(
  'SequenceConstruct SequenceEmpty SequenceInsert SequenceErase SequenceMap SplitToSequence Optional'.split(' '),
)

/** Values that nodes make and workers can give. */
export function tensorsMadeIn({ nodes }: FlatModel): Set<string> {
  const makers = [...nodes.values()].filter(({ opType }) => opType !== 'Constant' && !MAKE_NO_TENSORS.has(opType))
  return new Set(makers.flatMap(({ output }) => output.filter(Boolean)))
}

/** A value that was not computed to be kept. */
export interface ValueSize {
  readonly dtype: DType | undefined
  readonly shape: readonly number[]
  readonly byteLength: number
}

/** Sizes of values, found by running the model for their shapes alone; null where that is not possible. */
export async function measureSizes(
  model: OnnxModel,
  flat: FlatModel,
  values: readonly string[],
  dtypes: ReadonlyMap<string, DType>,
  run: RunEdited,
): Promise<ReadonlyMap<string, ValueSize> | null> {
  try {
    const { trace } = await run('shapes', shapeModel(model, flat, values), values.map(shapeName))
    const sizes = new Map<string, ValueSize>()
    for (const value of values) {
      const dtype = dtypes.get(value)
      const bytes = dtype ? DTYPES[dtype].bits / 8 : USUAL_BYTES
      const shape = await shapeIn(trace, value)
      sizes.set(value, { dtype, shape, byteLength: elementCount(shape) * bytes })
    }
    return sizes
  } catch (error) {
    // Sequences have no shape, and a model with one among its values does not compile then.
    if (!(error instanceof StageError)) throw error
    return null
  }
}

async function shapeIn(trace: Trace, value: string): Promise<number[]> {
  const source = trace.tensors.get(shapeName(value))
  if (!source) throw new StageError('extract', `the reference did not return the shape of "${value}"`)
  const bytes = source.file ? readAtOnce(source.file, source.byteLength) : await readWhole(source)
  return Array.from(decodeBigInts('int64', bytes, 0, bytes.length / 8), Number)
}

/** There are hundreds of shapes, and whoever waits for a file waits longer than reading one takes. */
function readAtOnce(place: FilePart, byteLength: number): Uint8Array {
  const part = openPart(place)
  const bytes = new Uint8Array(byteLength)
  try {
    part.fill(bytes, 0)
    return bytes
  } finally {
    part.close()
  }
}
