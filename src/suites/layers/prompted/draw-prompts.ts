import { remember } from '../../../domain/remember.ts'
import { readTextSizes } from '../../../models/hugging-face/text-sizes.ts'
import { loadTokenizer } from '../../../models/hugging-face/tokenizer/load-tokenizer.ts'
import type { PaddedBatch } from '../../../models/prompts/contract.ts'
import { refusePositions } from '../../../models/prompts/decoder-shapes.ts'
import type { Lab } from '../../../runs/contract.ts'
import type { LayersSuiteContext } from '../suite.ts'
import type { PromptedCase } from './prompted-case.ts'

/** What a decoder is given. */
export interface DrawnPrompts {
  readonly padded: PaddedBatch
  /** Where they come from and what was done to them, for the record. */
  readonly measurements: Readonly<Record<string, string | number>>
}

/** The first batch that `assay decoders test` would decode too. */
export async function drawPrompts(c: PromptedCase, lab: Lab, context: LayersSuiteContext): Promise<DrawnPrompts> {
  let drawn: DrawnPrompts | undefined
  await lab.step({ title: 'draw prompts', stage: 'inputs', key: null, files: false }, async () => {
    drawn = await draw(c, context)
  })
  return drawn!
}

async function draw({ prompted }: PromptedCase, context: LayersSuiteContext): Promise<DrawnPrompts> {
  const { decoder, shape } = prompted
  const { prompts, tokenizers } = context
  refusePositions(await readTextSizes(decoder.folder), shape)
  const tokenizer = await remember(tokenizers, decoder.tokenizerFolder, () => loadTokenizer(decoder.tokenizerFolder))
  const { padded } = await prompts.batch({ tokenizer }, shape, 0)
  const shaped = await prompts.shaping({ tokenizer }, shape, 1)
  const measurements = {
    'layers.prompts': prompts.source,
    ...(shaped !== null && { 'layers.prompts_shaped': shaped }),
  }
  return { padded, measurements }
}
