import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { ReadableStream as NodeStream } from 'node:stream/web'
import { builtFile } from '../../files/disk/own-files.ts'
import { createApp, type LoopbackApp, type LoopbackContext } from '../loopback/app.ts'
import { SAFE_HEADERS } from '../loopback/safe-headers.ts'
import { PAGE_DOCUMENT } from './document.ts'
import type { PageSettings, Visit } from './settings.ts'

const TYPES = new Map([
  ['.js', 'text/javascript'],
  ['.mjs', 'text/javascript'],
  ['.wasm', 'application/wasm'],
])

/** Threads need an isolated page; nothing may be loaded from elsewhere. */
export const PAGE_HEADERS = {
  ...SAFE_HEADERS,
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Content-Security-Policy': [
    "default-src 'none'",
    // onnxruntime-web's glue for WebNN makes functions from strings.
    "script-src 'self' blob: 'wasm-unsafe-eval' 'unsafe-eval'",
    "worker-src 'self' blob:",
    "connect-src 'self' blob: data: ws://127.0.0.1:* ws://localhost:*",
    "style-src 'unsafe-inline'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; '),
}

const VISIT: Visit = { visit: randomUUID() }

export interface Assets {
  readonly settings: PageSettings
  /** The installed onnxruntime-web. */
  readonly ortFolder: string
}

/** What the page asks for: itself, its two scripts, onnxruntime-web's files. */
export function createAssetApp({ settings, ortFolder }: Assets): LoopbackApp {
  const app = createApp()
  app.get('/', (c) => c.body(PAGE_DOCUMENT, 200, { 'Content-Type': 'text/html; charset=utf-8' }))
  app.get('/page.json', (c) => c.json(settings))
  app.get('/visit.json', (c) => c.json(VISIT))
  app.get('/assay/*', (c) => sendScript(c, builtFile('runtimes/browser/page')))
  app.get('/ort/*', (c) => sendScript(c, join(ortFolder, 'dist')))
  return app
}

/** Only scripts and WebAssembly below the folder; a path of anything but plain names is no path of ours. */
async function sendScript(c: LoopbackContext, folder: string): Promise<Response> {
  const [, name] = /^\/\w+\/((?:[\w-][\w.-]*\/)*[\w-][\w.-]*)$/.exec(c.req.path) ?? []
  const type = TYPES.get(extname(name ?? ''))
  if (name === undefined || type === undefined) return c.notFound()
  const file = join(folder, name)
  const size = await sizeOf(file)
  if (size === null) return c.notFound()
  const content = NodeStream.from(createReadStream(file)) as ReadableStream<Uint8Array>
  return c.body(content, 200, { 'Content-Type': type, 'Content-Length': String(size) })
}

async function sizeOf(file: string): Promise<number | null> {
  return stat(file).then(
    (found) => (found.isFile() ? found.size : null),
    () => null,
  )
}
