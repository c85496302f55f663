import type { DType } from '../../../../domain/dtype.ts'
import type { Tensor } from '../../../../domain/tensor.ts'
import type { NodeParts } from '../../../../onnx/builder.ts'
import { encodeNumbers } from '../../../../tensors/encode.ts'

/** The precision that a graph computes in. */
export type GraphDType = 'float32' | 'float16'

/** An initializer that is made of a weight of the folder. */
export interface WeightUse {
  readonly name: string
  readonly weight: string
  readonly isTransposed: boolean
}

type Attributes = NonNullable<NodeParts['attributes']>

/** Collects nodes; values are named after the node that gives them, as PyTorch's exporter does. */
export class GraphWriter {
  readonly nodes: NodeParts[] = []
  readonly constants = new Map<string, Tensor>()
  readonly weights = new Map<string, WeightUse>()
  readonly dtype: GraphDType

  constructor(dtype: GraphDType) {
    this.dtype = dtype
  }

  /** A node called `<scope>/<op>`, or as `label` says; gives the name of its output. */
  add(scope: string, op: string, inputs: readonly string[], attributes: Attributes = {}, label = op): string {
    const name = `${scope}/${label}`
    const output = `${name}_output_0`
    this.addNamed(name, op, inputs, [output], attributes)
    return output
  }

  addNamed(
    name: string,
    op: string,
    inputs: readonly string[],
    outputs: readonly string[],
    attributes: Attributes = {},
  ): void {
    this.nodes.push({ name, op, inputs, outputs, attributes })
  }

  /** A list of whole numbers, as axes, shapes and sizes are given. */
  integers(...values: number[]): string {
    return this.constant(`int64[${values.join(',')}]`, 'int64', [values.length], values)
  }

  integer(value: number): string {
    return this.constant(`int64(${value})`, 'int64', [], [value])
  }

  number(value: number, dtype: GraphDType = this.dtype): string {
    return this.constant(`${dtype}(${value})`, dtype, [], [value])
  }

  constant(name: string, dtype: DType, shape: readonly number[], values: readonly number[]): string {
    if (!this.constants.has(name)) this.constants.set(name, { dtype, shape, bytes: encodeNumbers(dtype, values) })
    return name
  }

  weight(weight: string): string {
    this.weights.set(weight, { name: weight, weight, isTransposed: false })
    return weight
  }

  /** A linear layer's weight, which PyTorch keeps as (out, in), as MatMul takes it. */
  transposedWeight(weight: string): string {
    const name = weight.replace(/\.weight$/, '.MatMul.weight')
    this.weights.set(name, { name, weight, isTransposed: true })
    return name
  }
}
