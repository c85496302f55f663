import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { extname, join } from 'node:path'
import { builtFile } from '../../files/disk/own-files.ts'
import { SAFE_HEADERS } from '../loopback/safe-headers.ts'
import { PAGE_DOCUMENT } from './document.ts'
import type { PageSettings, Visit } from './settings.ts'

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.wasm': 'application/wasm',
}

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

/** Answers what the page asks for: itself, its two scripts, onnxruntime-web's files. */
export async function serveAsset(path: string, assets: Assets, response: ServerResponse): Promise<void> {
  if (path === '/') return respond(response, 200, 'text/html; charset=utf-8', PAGE_DOCUMENT)
  if (path === '/page.json') return respond(response, 200, 'application/json', JSON.stringify(assets.settings))
  if (path === '/visit.json') return respond(response, 200, 'application/json', JSON.stringify(VISIT))
  const file = fileOf(path, assets.ortFolder)
  const size = file && (await sizeOf(file))
  if (file === null || size === null) return respond(response, 404, 'text/plain', 'not found\n')
  response.writeHead(200, { 'Content-Type': TYPES[extname(file)]!, 'Content-Length': size })
  createReadStream(file)
    .on('error', () => response.destroy())
    .pipe(response)
}

function respond(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'Content-Type': type }).end(body)
}

/** Only scripts and WebAssembly below two folders; a path of anything but plain names is no path of ours. */
function fileOf(path: string, ortFolder: string): string | null {
  const match = /^\/(assay|ort)\/((?:[\w-][\w.-]*\/)*[\w-][\w.-]*)$/.exec(path)
  if (!match || !Object.hasOwn(TYPES, extname(path))) return null
  return join(match[1] === 'assay' ? builtFile('runtimes/browser/page') : join(ortFolder, 'dist'), match[2]!)
}

async function sizeOf(file: string): Promise<number | null> {
  return stat(file).then(
    (found) => (found.isFile() ? found.size : null),
    () => null,
  )
}
