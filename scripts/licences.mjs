// The notices of packages whose code is inside what is packed.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './setup.mjs'

/** For a Map of package name to the files that were taken from it. */
export function licencesOf(packages) {
  const head = 'Assay contains code of these packages, under the terms that follow each of them.\n'
  const parts = [...packages].sort().map(([name, files]) => `${title(name)}\n\n${termsOf(name, files).join('\n\n')}\n`)
  return [head, ...parts].join(`\n${'-'.repeat(80)}\n\n`)
}

function title(name) {
  const { version, license, homepage, repository } = JSON.parse(read(join(folderOf(name), 'package.json')))
  return [`${name} ${version}, ${license}`, homepage ?? repository?.url ?? repository].filter(Boolean).join('\n')
}

/** Its licence file, and notices at the head of its files, which some have instead. */
function termsOf(name, files) {
  const own = readdirSync(folderOf(name)).filter((file) => /^(licen[cs]e|notice)/i.test(file))
  const texts = own.map((file) => read(join(folderOf(name), file)))
  const notices = files.map((file) => noticeOf(read(file)))
  const found = [...new Set([...texts, ...notices].map((text) => text.trim()).filter(Boolean))]
  if (found.length === 0) throw new Error(`${name} does not say under which terms its code may be passed on`)
  return found
}

/** Comments before the first statement that speak of rights. */
function noticeOf(text) {
  const [comments] = /^(?:\s*(?:\/\/[^\n]*\n|\/\*[\s\S]*?\*\/))*/.exec(text)
  return /copyright|licen[cs]e/i.test(comments) ? comments.replace(/^\/\/ ?/gm, '') : ''
}

const folderOf = (name) => join(root, 'node_modules', name)
const read = (path) => readFileSync(path, 'utf8')
