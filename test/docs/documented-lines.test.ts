import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { DEMO_PROGRAM, demoConfig } from '../../src/suites/convergence/testing/demo-training.ts'
import { assay, project, root } from '../support/assay.ts'

/** What begins a documented line, and what it is here. */
const PROGRAMS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^pytest tests\/test_onnx_model\.py/, ['test']],
  [/^pytest tests\/models\/test_decoders\.py/, ['decoders', 'test']],
  [/^pytest tests\/models\/test_model_expectations\.py\S*/, ['expect']],
  [/^python generate_metrics\.py/, ['decoders', 'baseline']],
  [/^python3 get_thresholds\.py/, ['thresholds']],
  [/^python3 \S*generate_layers_metrics\.py/, ['layers']],
  [/^python3 \S*convergence_harness\.py/, ['converge']],
  [/^python test_hf_bert\.py/, ['families', 'bert']],
  [/^python test_all_models\.py/, ['families']],
]

/** Where the documents' own places are in the test's folder. */
const PLACES: readonly (readonly [string, string])[] = [
  ['/tmp/aiu-fms-testing-utils/', ''],
  ['/tmp/output', 'output'],
  ['/local-path/granite-20b-code-cobol-v1/', 'model-path/'],
  ['/model-path/', 'model-path/'],
  ['mistralai/Mistral-7B-Instruct-v0.3', 'model-path'],
  ['ibm-granite/granite-3.2-8b-instruct', 'model-path'],
  ['/resources/sharegpt/share_gpt.json', 'share_gpt.json'],
  ['<path_to_convergence_results>', 'results'],
  ['$' + '{board_address}', 'root@10.3.120.55'],
]

const placed = (text: string) => PLACES.reduce((line, [there, here]) => line.replaceAll(there, here), text)

/** The words of a documented line, as a shell would give them to the command. */
function wordsOf(line: string, exported: Readonly<Record<string, string>> = {}): string[] {
  const [program, command] = PROGRAMS.find(([begin]) => begin.test(line))!
  const rest = placed(line.replace(program, '')).replace(/\$([A-Z_]+)/g, (_, name: string) => exported[name]!)
  return [...command, ...rest.split(' ').filter(Boolean)]
}

interface Documented {
  readonly line: string
  /** What the document exports before it. */
  readonly exported?: Readonly<Record<string, string>>
  /** Lines that the document has before it. */
  readonly after?: readonly string[]
  /** Words that keep a test short. */
  readonly more?: readonly string[]
  /** On stdout, where it runs. */
  readonly gives?: RegExp
  /** In the one line on stderr, where it is refused. */
  readonly refused?: string
  /** Options and variables that are said to do nothing. */
  readonly nothing?: readonly string[]
}

const MATMUL = /2 passed/
const ONE_LAYER = /\b1 passed/
const HARNESS = 'python3 utils/convergence/convergence_harness.py -t utils/convergence/configs/demo_config.yml'
const MISTRAL = '/tmp/aiu-fms-testing-utils/models/Mistral-7B-Instruct-v0.3'

const ONNX_WORKFLOW: readonly Documented[] = [
  {
    line: 'pytest tests/test_onnx_model.py -k example-matmul --collect-only',
    gives: /^example-matmul\/full_model@ort-web:wasm\nexample-matmul\/layer_MatMul_product@ort-web:wasm\n$/,
  },
  { line: 'pytest tests/test_onnx_model.py -k example-matmul', gives: MATMUL },
  { line: 'pytest tests/test_onnx_model.py -s -k example-matmul_layer_MatMul_0-sim-default', gives: ONE_LAYER },
  {
    line: 'pytest tests/test_onnx_model.py -s -k example-matmul_layer_MatMul_0-sim-default --debug-ir ir_dump',
    gives: ONE_LAYER,
  },
  {
    line: 'pytest tests/test_onnx_model.py -k example-matmul_layer --torq-compile-time-profiling-output-dir=profile  --recompute-cache',
    gives: ONE_LAYER,
    nothing: ['--torq-compile-time-profiling-output-dir'],
  },
  {
    line: 'pytest tests/test_onnx_model.py -k example-matmul_layer --torq-runtime-profiling-output-dir=profile --recompute-cache',
    gives: ONE_LAYER,
    nothing: ['--torq-runtime-profiling-output-dir'],
  },
  {
    line:
      'pytest tests/test_onnx_model.py -k example-matmul_layer --torq-runtime-hw-type=astra_machina --torq-addr $' +
      '{board_address}',
    refused: '--hw astra_machina: target "ort-web:wasm" uses no hardware type; ',
  },
  {
    line:
      'pytest tests/test_onnx_model.py -k example-matmul_layer --torq-runtime-hw-type=astra_machina --torq-addr $' +
      '{board_address}',
    more: ['--target', 'ssh,program=runner', '--list'],
    gives: /^example-matmul\/layer_MatMul_product@ssh:root@10\.3\.120\.55,hw=astra_machina,program=runner\n$/,
  },
  {
    line: 'pytest tests/test_onnx_model.py -k example-matmul --torq-chips default',
    refused: '--chip default: target "ort-web:wasm" uses no chip; ',
  },
  {
    line: 'pytest tests/test_onnx_model.py -k example-matmul --collect-only',
    exported: { TORQ_PERF_SERVER: 'http://localhost:8080' },
    gives: /^example-matmul/,
    nothing: ['TORQ_PERF_SERVER in the environment'],
  },
]

const EXPECTED = /^model-path\/output@torch:cpu\nmodel-path\/unfused@torch:cpu\nmodel-path\/weight_keys@torch:cpu\n$/
const SHAPES = 'FMS_TEST_SHAPES_'

const MODEL: readonly Documented[] = [
  {
    line: 'pytest tests/models/test_decoders.py',
    exported: {
      [`${SHAPES}COMMON_BATCH_SIZES`]: '1',
      [`${SHAPES}COMMON_SEQ_LENGTHS`]: '128',
      [`${SHAPES}COMMON_MODEL_PATHS`]: '/local-path/granite-20b-code-cobol-v1/',
      [`${SHAPES}USE_MICRO_MODELS`]: '0',
    },
    more: ['--list'],
    gives: /^model-path\/b1\/s128\/n128@/,
  },
  {
    line: 'python generate_metrics.py --architecture=hf_pretrained --model_path=$MODEL_PATH --tokenizer=$MODEL_PATH --unfuse_weights --output_dir=/tmp/aiu-fms-testing-utils/output/ --compile_dynamic --max_new_tokens=$MAX_NEW_TOKENS --min_pad_length=$SEQ_LENS --batch_size=$BATCH_SIZES --default_dtype=$DEFAULT_TYPES --sharegpt_path=$DS_PATH --num_test_tokens_per_sequence=1024',
    exported: {
      MODEL_PATH: '/model-path/',
      MAX_NEW_TOKENS: '128',
      BATCH_SIZES: '1',
      SEQ_LENS: '64',
      DEFAULT_TYPES: 'fp16',
      DS_PATH: '/resources/sharegpt/share_gpt.json',
    },
    more: ['--list'],
    gives: /^model-path\/b1\/s64\/n128@torch:\w+,dtype=fp16\n$/,
    nothing: ['--architecture', '--unfuse_weights', '--compile_dynamic'],
  },
  {
    line: `python3 get_thresholds.py --models ${MISTRAL} --metrics diff_mean ce --file_base /tmp/aiu-fms-testing-utils/output`,
    gives:
      /^found 1 metric files\n\S+-v0\.3 diff_mean 0\.0007839603102183846\nfound 1 metric files\nmodels--Mistral-7B-Instruct-v0\.3 ce 2\.8364005851745624\n/,
  },
  {
    line: 'pytest tests/models/test_decoders.py -vv',
    exported: {
      [`${SHAPES}COMMON_MODEL_PATHS`]: 'mistralai/Mistral-7B-Instruct-v0.3',
      [`${SHAPES}FORCE_VALIDATION_LEVEL_1`]: '1',
      [`${SHAPES}COMMON_BATCH_SIZES`]: '1',
      [`${SHAPES}COMMON_SEQ_LENGTHS`]: '64',
      [`${SHAPES}COMMON_MAX_NEW_TOKENS`]: '16',
      [`${SHAPES}USE_MICRO_MODELS`]: '0',
      [`${SHAPES}METRICS_THRESHOLD`]: '2.8364005851745624,0.0007839603102183846',
      [`${SHAPES}VALIDATION_INFO_DIR`]: '/tmp/aiu-fms-testing-utils/output',
      [`${SHAPES}FAILURE_THRESHOLD`]: '0.01',
    },
    more: ['--list'],
    gives: /^model-path\/b1\/s64\/n16@/,
  },
  {
    line: 'pytest tests/models/test_model_expectations.py::TestAIUDecoderModels --capture_expectation',
    refused: 'no model to expect anything of; ',
  },
  {
    line: 'pytest tests/models/test_model_expectations.py::TestAIUDecoderModels --capture_expectation',
    more: ['--model', 'model-path', '--list', '-k', 'TestAIUDecoderModels'],
    gives: EXPECTED,
  },
  {
    line: 'pytest tests/models/test_model_expectations.py::TestAIUDecoderModels -vv',
    more: ['--model', 'model-path', '--list', '-k', 'test_model_output[model-path-False]'],
    gives: /^model-path\/output@torch:cpu\n$/,
  },
  {
    line: 'pytest tests/models/test_model_expectations.py::TestAIUModelsTupleOutput --capture_expectation',
    more: ['--config', 'tuple.json', '--list', '-k', 'TestAIUModelsTupleOutput'],
    gives: EXPECTED,
  },
]

const LAYERS_EXPORTS = {
  MODEL_PATHS: 'ibm-granite/granite-3.2-8b-instruct',
  BATCH_SIZES: '1',
  SEQ_LENGTHS: '64',
  MAX_NEW_TOKENS: '128',
  OUTPUT_PATH: '/tmp/output/granite',
}

const LAYERS: readonly Documented[] = [
  {
    line: 'python3 aiu-fms-testing-utils/scripts/generate_layers_metrics.py --mode generate',
    exported: LAYERS_EXPORTS,
    more: ['--list'],
    gives: /^model-path\/b1\/s64\/n128@torch:cpu,dtype=bf16\n$/,
  },
  {
    line: 'python3 aiu-fms-testing-utils/scripts/generate_layers_metrics.py --mode model-forward',
    exported: LAYERS_EXPORTS,
    more: ['--list'],
    gives: /^model-path\/b1\/s64\/n0@torch:cpu,dtype=bf16\n$/,
  },
  {
    line: 'pytest tests/test_onnx_model.py --collect-only',
    exported: LAYERS_EXPORTS,
    gives: /^example-matmul/,
    nothing: ['BATCH_SIZES, MAX_NEW_TOKENS, MODEL_PATHS, OUTPUT_PATH, SEQ_LENGTHS in the environment'],
  },
  {
    line: 'python3 get_thresholds.py --models ibm-granite/granite-3.2-8b-instruct --metrics abs_diff cos_sim --file_base /tmp/output --layer_io',
    gives:
      /^Layer model\.base_model\.layers25\.attn\.dense avg abs_diff = 0\.5201997339672954\nLayer model\.base_model\.layers25\.attn\.dense avg cos_sim = 0\.9986572265625\n$/,
  },
]

const CONVERGENCE: readonly Documented[] = [
  { line: `${HARNESS} -s <path_to_convergence_results> -g`, gives: /1 captured/ },
  {
    line: `${HARNESS} -s <path_to_convergence_results>`,
    after: [`${HARNESS} -s <path_to_convergence_results> -g`],
    gives: /3 passed/,
  },
  {
    line: `${HARNESS} -s <path_to_convergence_results> --manifest-name testing_manifest.json`,
    after: [`${HARNESS} -s <path_to_convergence_results> -g --manifest-name testing_manifest.json`],
    gives: /3 passed/,
  },
  {
    line: `${HARNESS.replace(' -t ', ' --test-config-path ')} --storage-path <path_to_convergence_results> --gather`,
    gives: /1 captured/,
  },
]

const FAMILIES: readonly Documented[] = [
  'python test_hf_bert.py --model bert-base-uncased',
  'python test_hf_bert.py --all-models',
  'python test_hf_bert.py --list-models',
  'python test_hf_bert.py --model bert-base-uncased --save',
  'python test_hf_bert.py --model bert-base-uncased --all-hardware',
  'python test_hf_bert.py --model bert-base-uncased --cpu-only',
  'python test_all_models.py --category bert',
  'python test_all_models.py --all',
].map((line) => ({ line, refused: "unknown command 'families'; assay --help lists all" }))

const METRICS = 'output/models--Mistral-7B-Instruct-v0.3_max-new-tokens-128_batch-size-8_seq-length64_dtype-fp16'
const GRANITE = 'output/granite/model-path_max-new-tokens-128_batch-size-1_seq-length-0_dtype-float16'
const DENSE = `${GRANITE}--model.base_model.layers25.attn.dense`
let decoder: string

beforeAll(async () => {
  decoder = project()
  expect((await assay(['micro', 'llama', '--hidden', '32', '-o', 'model-path'], decoder)).code).toBe(0)
})

/** A project as the documents have it; the decoder is made once. */
function documentedProject(): string {
  const folder = project({
    'tests/testdata/onnx_models/example-matmul.onnx': readFileSync(join(root, 'examples/models/example-matmul.onnx')),
    'utils/convergence/configs/demo_config.yml': demoConfig(),
    'program.mjs': DEMO_PROGRAM,
    'share_gpt.json': '[]',
    [`${DENSE}.abs_diff.csv`]: 'abs_diff\n0.5201997339672954\n0.0\n',
    [`${DENSE}.cos_sim.csv`]: 'cos_sim\n0.9986572265625\n0.9986572265625\n',
    'tuple.json': JSON.stringify({ expectations: { tuple_output_models: ['model-path'] } }),
    [`${METRICS}.ce.csv`]: 'ce\n2.8364005851745624\n',
    [`${METRICS}.diff_mean.csv`]: 'diff_mean\n0.0007839603102183846\n',
  })
  cpSync(join(decoder, 'model-path'), join(folder, 'model-path'), { recursive: true })
  return folder
}

describe.each<[string, readonly Documented[]]>([
  ['model testing and debugging workflow', ONNX_WORKFLOW],
  ['model tests', MODEL],
  ['layer metrics generation', LAYERS],
  ['convergence regression testing', CONVERGENCE],
  ['Hugging Face model testing', FAMILIES],
])('the document on %s', (_, lines) => {
  test.each(lines.map((documented) => [documented.line, documented] as const))('%s', async (line, documented) => {
    const { exported = {}, after = [], more = [], gives, refused, nothing = [] } = documented
    const folder = documentedProject()
    const values = Object.fromEntries(Object.entries(exported).map(([name, value]) => [name, placed(value)]))
    const env = { ...values, HF_HUB_OFFLINE: '1', ASSAY_SCOPE: undefined }
    for (const earlier of after) expect((await assay(wordsOf(earlier), folder, env)).code, earlier).toBe(0)
    const { code, stdout, stderr } = await assay([...wordsOf(line, values), ...more], folder, env)
    const said = stderr.split('\n').filter((text) => / nothing here: /.test(text))
    expect(said.map((text) => text.replace(/^assay: (.*?) do(es)? nothing here: .*$/, '$1'))).toEqual(nothing)
    expect(code, stderr).toBe(refused ? 4 : 0)
    if (refused) expect(stderr).toContain(`assay: ${refused}`)
    expect(stdout).toMatch(gives ?? /^$/)
  })
})
