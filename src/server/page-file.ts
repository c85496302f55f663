import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { builtFile } from '../files/disk/own-files.ts'

export interface PageFile {
  readonly html: string
  readonly headers: Readonly<Record<string, string>>
}

/** A page that was built into one file, with headers that let only its own script and style run. */
export async function readPage(name: string): Promise<PageFile> {
  const html = await readFile(builtFile(`web/${name}`), 'utf8')
  return { html, headers: pageHeaders(html) }
}

function pageHeaders(html: string): Record<string, string> {
  const policy = [
    "default-src 'none'",
    `script-src ${hashesOf(html, 'script')}`,
    `style-src ${hashesOf(html, 'style')}`,
    "connect-src 'self'",
    'img-src data:',
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ]
  return { 'Content-Security-Policy': policy.join('; '), 'Content-Type': 'text/html; charset=utf-8' }
}

function hashesOf(html: string, tag: 'script' | 'style'): string {
  const contents = [...html.matchAll(new RegExp(`<${tag}[^>]*>([\\s\\S]*?)</${tag}>`, 'g'))].map((match) => match[1]!)
  return contents.map((content) => `'sha256-${createHash('sha256').update(content).digest('base64')}'`).join(' ')
}
