import { describeWithPython } from '../support/python.ts'
import { describeConformance } from './conformance.ts'
import { huggingFaceModels } from './hugging-face.ts'

const skips = {
  bytes: 'a Hugging Face folder is not edited',
  declarations: 'a Hugging Face folder declares no shapes',
  external: 'the weights of a Hugging Face folder always lie beside its config.json',
}

describeWithPython('PyTorch', 'torch, transformers', () =>
  describeConformance('torch:cpu,trust-code=true', skips, () => {}, huggingFaceModels),
)
