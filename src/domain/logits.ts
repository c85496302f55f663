/** float32 holds those of a model in half precision exactly. */
export type Logits = Float32Array | Float64Array
