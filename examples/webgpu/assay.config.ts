import { fileURLToPath } from 'node:url'
import { defineConfig } from '../../src/library/config/assay-config.ts'

const SAMPLE_RATE = 16_000
const PITCH = 140

/** 32 ms of a voice: a tone with four overtones. */
const frame = Array.from({ length: 512 }, (_, i) => {
  const phase = (2 * Math.PI * PITCH * i) / SAMPLE_RATE
  return 0.3 * [1, 2, 3, 4, 5].reduce((sum, k) => sum + Math.sin(k * phase) / k, 0)
})

const vad = fileURLToPath(new URL('../../node_modules/@ricky0123/vad-web/dist/silero_vad_v5.onnx', import.meta.url))

/** Two models that onnxruntime-web 1.30.0 gets wrong on WebGPU, and nowhere else. */
export default defineConfig({
  models: [vad, 'conv-6-to-8.onnx'],
  inputs: {
    silero_vad_v5: { input: frame, state: 0, sr: SAMPLE_RATE },
    'conv-6-to-8': { x: '-2..2' },
  },
  targets: {
    wasm: 'chromium:wasm,ort=1.30.0',
    'webgpu-jsep': 'chromium:webgpu-jsep,ort=1.30.0',
    webgpu: 'chromium:webgpu,ort=1.30.0',
  },
  target: ['wasm', 'webgpu-jsep', 'webgpu'],
})
