import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Trace } from '../../../domain/tensor.ts'
import type { Side } from '../../../domain/verdict.ts'
import { createTraceWriter } from '../../../files/formats/trace-writer.ts'
import { writeModel } from '../../../onnx/model.ts'
import type { Lab } from '../../../runs/contract.ts'
import { sendTensor } from '../../../runtimes/worker/send-tensor.ts'
import type { CutLayer } from '../../tensors/inside/cut-layer.ts'

/** Keeps the one-layer model, its inputs and the outputs of both sides, as far as there are any, with the run. */
export async function keepLayer(
  lab: Lab,
  { model, inputs }: CutLayer,
  sides: Readonly<Partial<Record<Side, Trace>>> = {},
): Promise<void> {
  const traces = Object.entries({ inputs, ...sides })
  const { folder } = await lab.step({ title: 'keep the layer', stage: 'extract', key: null }, async (place) => {
    await writeFile(join(place, 'layer.onnx'), writeModel(model.proto))
    for (const [name, trace] of traces) await copyTrace(trace, join(place, `${name}.safetensors`))
    return {}
  })
  const names = ['layer.onnx', ...traces.map(([name]) => `${name}.safetensors`)]
  for (const name of names) await lab.keep(name, join(folder, name))
}

async function copyTrace({ values, tensors }: Trace, path: string): Promise<void> {
  const writer = createTraceWriter(path, tensors.size)
  try {
    for (const source of tensors.values()) await sendTensor(source, writer.sink)
    await writer.finish(values)
  } finally {
    await writer.abort()
  }
}
