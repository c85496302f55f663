import type { SuiteCommand } from '../contract.ts'

/** Models whole and layer by layer; several suites judge what they find below the same paths. */
export const TEST_COMMAND: SuiteCommand = {
  name: 'test',
  argument: '[paths...]',
  summary: 'judge models: ONNX files, Hugging Face folders, folders of them or globs (default: models)',
  completes: 'files',
}
