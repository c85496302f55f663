// Which folder of src/ may import which. A folder may always import itself.
const pure = ['domain']
const tensors = [...pure]
const compare = [...tensors, 'tensors']
const files = [...compare, 'compare']
const onnx = [...files, 'files']
const models = [...onnx, 'onnx']
const runtimes = [...models, 'models']
const runs = [...runtimes, 'runtimes']
const options = runtimes
const suites = [...runs, 'runs', 'options']
const server = [...suites, 'suites', 'reporters']
const library = [...suites, 'suites', 'reporters']
const cli = [...library, 'library', 'server']

export const allowed = {
  domain: [],
  tensors,
  compare,
  files,
  onnx,
  models,
  runtimes,
  runs,
  options,
  suites,
  reporters: [...suites, 'suites'],
  server,
  library,
  cli,
  'index.ts': cli,
  'vitest.ts': cli,
}

/** These also run in a browser: they load no node: module, nor anything that does. */
export const browserSafe = ['domain', 'tensors', 'compare', 'suites/decoders/gates', 'suites/convergence/curves']

/** What a page loads, with everything that it imports: no node: modules. */
export const pageFolders = ['runtimes/browser/page']

/** What pages of web/ may import, from src/ and from packages. */
export const webImports = { folders: browserSafe, packages: ['preact', 'preact/hooks'] }
