export type DTypeKind = 'float' | 'int' | 'uint' | 'bool' | 'string' | 'complex'

interface DTypeFacts {
  readonly kind: DTypeKind
  /** Bits per element; strings have none. */
  readonly bits: number
  /** TensorProto.DataType in ONNX. */
  readonly onnx: number
}

export const DTYPES = {
  float32: { kind: 'float', bits: 32, onnx: 1 },
  uint8: { kind: 'uint', bits: 8, onnx: 2 },
  int8: { kind: 'int', bits: 8, onnx: 3 },
  uint16: { kind: 'uint', bits: 16, onnx: 4 },
  int16: { kind: 'int', bits: 16, onnx: 5 },
  int32: { kind: 'int', bits: 32, onnx: 6 },
  int64: { kind: 'int', bits: 64, onnx: 7 },
  string: { kind: 'string', bits: 0, onnx: 8 },
  bool: { kind: 'bool', bits: 8, onnx: 9 },
  float16: { kind: 'float', bits: 16, onnx: 10 },
  float64: { kind: 'float', bits: 64, onnx: 11 },
  uint32: { kind: 'uint', bits: 32, onnx: 12 },
  uint64: { kind: 'uint', bits: 64, onnx: 13 },
  complex64: { kind: 'complex', bits: 64, onnx: 14 },
  complex128: { kind: 'complex', bits: 128, onnx: 15 },
  bfloat16: { kind: 'float', bits: 16, onnx: 16 },
  float8e4m3fn: { kind: 'float', bits: 8, onnx: 17 },
  float8e4m3fnuz: { kind: 'float', bits: 8, onnx: 18 },
  float8e5m2: { kind: 'float', bits: 8, onnx: 19 },
  float8e5m2fnuz: { kind: 'float', bits: 8, onnx: 20 },
  uint4: { kind: 'uint', bits: 4, onnx: 21 },
  int4: { kind: 'int', bits: 4, onnx: 22 },
  float4e2m1: { kind: 'float', bits: 4, onnx: 23 },
  float8e8m0: { kind: 'float', bits: 8, onnx: 24 },
  uint2: { kind: 'uint', bits: 2, onnx: 25 },
  int2: { kind: 'int', bits: 2, onnx: 26 },
} as const satisfies Record<string, DTypeFacts>

export type DType = keyof typeof DTYPES

const byOnnx = new Map<number, DType>(Object.entries(DTYPES).map(([name, facts]) => [facts.onnx, name as DType]))

export function isDType(name: string): name is DType {
  return Object.hasOwn(DTYPES, name)
}

export function dtypeFromOnnx(code: number): DType | undefined {
  return byOnnx.get(code)
}

export function dtypeKind(dtype: DType): DTypeKind {
  return DTYPES[dtype].kind
}
