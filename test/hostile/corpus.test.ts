import { afterAll } from 'vitest'
import { printFigures } from '../reliability/figures.ts'
import { figuresOf, testRows } from './corpus.ts'
import { rows as externalData } from './external-data.ts'
import { rows as hub } from './hub.ts'
import { rows as npy } from './npy.ts'
import { rows as onnx } from './onnx.ts'
import { rows as ownFiles } from './own-files.ts'
import { rows as records } from './records.ts'
import { rows as reports } from './reports.ts'
import { rows as safetensors } from './safetensors.ts'
import { diffRows, pageRows } from './servers.ts'
import { rows as testData } from './test-data.ts'
import { rows as tokenizers } from './tokenizers.ts'
import { rows as training } from './training.ts'
import { rows as words } from './words.ts'
import { rows as workers } from './workers.ts'
import { rows as yaml } from './yaml.ts'

const GROUPS = {
  safetensors,
  npy,
  'external data': externalData,
  'an ONNX model': onnx,
  'test data': testData,
  'a report': reports,
  'a record': records,
  'the diff server': diffRows,
  'the page server': pageRows,
  'the hub': hub,
  words,
  'a worker or a board': workers,
  YAML: yaml,
  training,
  'a tokenizer': tokenizers,
  'files of Assay': ownFiles,
}

for (const [group, rows] of Object.entries(GROUPS)) testRows(group, rows)

afterAll(() => printFigures('hostile corpus', figuresOf()))
