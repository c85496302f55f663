import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Tensor } from '../../src/domain/tensor.ts'
import type { ModelRef } from '../../src/runtimes/contract.ts'
import { floats } from './capture.ts'
import type { ConformanceModels } from './models.ts'

type FolderRef = ModelRef & { readonly path: string }

interface FolderContent {
  readonly config: object
  /** `modeling.py`, which must then be trusted. */
  readonly code?: string
  readonly weights?: Readonly<Record<string, Tensor>>
}

/** A Hugging Face folder. */
export async function saveFolder({ config, code, weights }: FolderContent): Promise<FolderRef> {
  const path = await mkdtemp(join(tmpdir(), 'assay-folder-'))
  await writeFile(join(path, 'config.json'), JSON.stringify(config))
  if (code !== undefined) await writeFile(join(path, 'modeling.py'), code)
  if (weights) await writeFile(join(path, 'model.safetensors'), safetensors(weights))
  return { format: 'huggingface', path }
}

const SAFETENSORS_NAMES: Partial<Record<Tensor['dtype'], string>> = { float32: 'F32', bfloat16: 'BF16', int64: 'I64' }

export function safetensors(tensors: Readonly<Record<string, Tensor>>): Buffer {
  let at = 0
  const entries = Object.entries(tensors).map(([name, { dtype, shape, bytes }]) => {
    at += bytes.length
    return [name, { dtype: SAFETENSORS_NAMES[dtype], shape, data_offsets: [at - bytes.length, at] }] as const
  })
  const header = Buffer.from(JSON.stringify(Object.fromEntries([['__metadata__', { format: 'pt' }], ...entries])))
  const size = Buffer.alloc(8)
  size.writeBigUInt64LE(BigInt(header.length))
  return Buffer.concat([size, header, ...Object.values(tensors).map(({ bytes }) => bytes)])
}

/** config.json of a model whose code lies beside it. */
export function ownCodeConfig(more: object = {}): object {
  const auto_map = { AutoConfig: 'modeling.OwnConfig', AutoModel: 'modeling.OwnModel' }
  return { model_type: 'assay-own', architectures: ['OwnModel'], auto_map, ...more }
}

/** A modelling file whose `OwnModel` has this body, after other definitions; `torch` and `nn` are there. */
export function ownCode(body: string, before = ''): string {
  return `
import torch
from torch import nn
from transformers import PreTrainedConfig, PreTrainedModel


class OwnConfig(PreTrainedConfig):
    model_type = "assay-own"

${before}

class OwnModel(PreTrainedModel):
    config_class = OwnConfig
    main_input_name = "x"

${body.replace(/^(?=.)/gm, '    ')}
`
}

const SMALL = `
def __init__(self, config):
    super().__init__(config)
    self.layer = nn.Linear(2, 3)
    self.post_init()

def forward(self, x: torch.FloatTensor):
    if x.dim() != 2:
        raise ValueError(f"x has {x.dim()} dimensions, expected 2")
    return {"y": torch.relu(self.layer(x)), "z": x + x}
`

const IDENTITY = `
def __init__(self, config):
    super().__init__(config)
    self.post_init()

def forward(self, x: torch.Tensor):
    return {"y": x}
`

const LONG_WORK = `
def __init__(self, config):
    super().__init__(config)
    self.post_init()

def forward(self, x: torch.FloatTensor):
    y = x
    for _ in range(self.config.count):
        y = y @ x
    return {"y": y}
`

/** The models of the conformance suite as folders with their own code. */
export const huggingFaceModels: ConformanceModels = {
  format: 'huggingface',
  declaresOutputs: false,
  smallNetwork: () =>
    saveFolder({
      config: ownCodeConfig(),
      code: ownCode(SMALL),
      weights: { 'layer.weight': floats([1, 4, 2, 5, 3, 6], [3, 2]), 'layer.bias': floats([0.5, -100, 0.25]) },
    }),
  identity: () => saveFolder({ config: ownCodeConfig(), code: ownCode(IDENTITY) }),
  longWork: (_size, count) => saveFolder({ config: ownCodeConfig({ count }), code: ownCode(LONG_WORK) }),
  broken: {
    'whose config.json is no JSON': async () => {
      const model = await saveFolder({ config: {} })
      await writeFile(join(model.path, 'config.json'), 'this is not a model')
      return model
    },
    'of an unknown architecture': () =>
      saveFolder({ config: { model_type: 'llama', architectures: ['NoSuchArchitecture'] } }),
  },
}
