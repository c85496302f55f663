/** A configuration that a person goes on writing. */
export function configText(models: readonly string[], targets: readonly string[]): string {
  return `import { defineConfig } from 'assay'

export default defineConfig({
  // Files, folders and globs; paths are relative to this file.
  models: ${listText(models)},

  // What is under test; \`npx assay doctor\` says what this machine can run.
  target: ${listText(targets)},

  // The trusted side everything is compared with; this is the default.
  // reference: 'ort:cpu',

  // Sizes of symbolic dimensions and contents of inputs, by model:
  // dims: { '**': { batch: [1, 4] } },
  // inputs: { 'speech*': { audio: 'voiced' } },
})
`
}

function listText(words: readonly string[]): string {
  return `[${words.map(quoted).join(', ')}]`
}

function quoted(word: string): string {
  // JSON leaves line separators as they are, and older readers end a line there.
  const json = JSON.stringify(word).replace(/[\u2028\u2029]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16)}`)
  return /['\\]/.test(json.slice(1, -1)) ? json : `'${json.slice(1, -1)}'`
}
