import { linkSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import { describe, expect, test } from 'vitest'
import {
  ModelProtoSchema,
  StringStringEntryProtoSchema,
  TensorProto_DataLocation,
} from '../../src/onnx/generated/onnx-ml_pb.ts'
import { assay, assayJson, project, type Ran } from '../support/assay.ts'
import { affineModel } from '../support/small-models.ts'

const good = affineModel()
const weights = new Uint8Array(Float32Array.of(2).buffer)

/** The same model with the weight "scale" in another file. */
function externalModel(location: string): Uint8Array {
  const model = fromBinary(ModelProtoSchema, good)
  const scale = model.graph!.initializer.find(({ name }) => name === 'scale')!
  scale.rawData = new Uint8Array(0)
  scale.dataLocation = TensorProto_DataLocation.EXTERNAL
  scale.externalData = [create(StringStringEntryProtoSchema, { key: 'location', value: location })]
  return toBinary(ModelProtoSchema, model)
}

function badModels(): string {
  const nodes = (op: string, input = 'x') => ({ nodes: [{ op, inputs: [input], outputs: ['y'] }] })
  const folder = project({
    'models/empty.onnx': '',
    'models/html.onnx': '<!DOCTYPE html><html><body>Not found</body></html>',
    'models/lfs-pointer.onnx': 'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n',
    'models/not-protobuf.onnx': 'a recipe for apple pie',
    'models/opset-0.onnx': affineModel(2, { opset: 0 }),
    'models/opset-99.onnx': affineModel(2, { opset: 99 }),
    'models/truncated.onnx': good.subarray(0, good.length - 20),
    'models/unknown-op.onnx': affineModel(2, nodes('Frobnicate')),
    'models/unknown-value.onnx': affineModel(2, nodes('Relu', 'nowhere')),
    'models/external-absolute.onnx': externalModel('/etc/hostname'),
    'models/external-hardlink.onnx': externalModel('hardlinked.bin'),
    'models/external-missing.onnx': externalModel('missing.bin'),
    'models/external-outside.onnx': externalModel('../secret.bin'),
    'models/external-short.onnx': externalModel('short.bin'),
    'models/external-symlink.onnx': externalModel('symlinked.bin'),
    'models/short.bin': weights.subarray(0, 3),
    'secret.bin': weights,
  })
  linkSync(join(folder, 'secret.bin'), join(folder, 'models/hardlinked.bin'))
  symlinkSync('../secret.bin', join(folder, 'models/symlinked.bin'))
  return folder
}

/** `model: stage: message`, without what differs from machine to machine. */
async function messagesOf(folder: string, args: readonly string[]): Promise<string[]> {
  const { code, results } = await assayJson(['test', ...args], folder)
  expect(code).toBe(1)
  expect(results.map((result) => result.verdict)).toEqual(results.map(() => 'error'))
  return results.map(
    ({ model, error }) => `${model}: ${error!.stage}: ${error!.message.replaceAll(folder, '<project>')}`,
  )
}

describe('a model that cannot be judged', () => {
  const folder = badModels()

  test('is an error that says what was found, what was expected and what to do', async () => {
    expect(await messagesOf(folder, [])).toMatchInlineSnapshot(`
      [
        "empty: import: <project>/models/empty.onnx is an empty file, expected an ONNX model; give an .onnx file",
        "external-absolute: import: <project>/models/external-absolute.onnx: external data of tensor "scale" (initializer "scale" in graph) names the absolute path "/etc/hostname"; expected a plain file inside the model's folder",
        "external-hardlink: import: <project>/models/external-hardlink.onnx: external data of tensor "scale" (initializer "scale" in graph) names "hardlinked.bin", which has 2 hard links, expected a file of its own (copy it); expected a plain file inside the model's folder",
        "external-missing: import: <project>/models/external-missing.onnx: external data of tensor "scale" (initializer "scale" in graph) names "missing.bin", which does not exist (put it beside the model); expected a plain file inside the model's folder",
        "external-outside: import: <project>/models/external-outside.onnx: external data of tensor "scale" (initializer "scale" in graph) names the path "../secret.bin", which leaves the model's folder; expected a plain file inside the model's folder",
        "external-short: import: <project>/models/external-short.onnx: external data of tensor "scale" (initializer "scale" in graph) names bytes 0 to 4 of "short.bin", which has 3; expected a plain file inside the model's folder",
        "external-symlink: import: <project>/models/external-symlink.onnx: external data of tensor "scale" (initializer "scale" in graph) names "symlinked.bin", which is or goes through a symbolic link (copy it); expected a plain file inside the model's folder",
        "html: import: <project>/models/html.onnx is an HTML page, expected an ONNX model; give an .onnx file",
        "lfs-pointer: import: <project>/models/lfs-pointer.onnx is a Git LFS pointer, not the file itself (run: git lfs pull), expected an ONNX model; give an .onnx file",
        "not-protobuf: import: <project>/models/not-protobuf.onnx is bytes that start with 6120726563697065, expected an ONNX model; give an .onnx file",
        "opset-0: import: <project>/models/opset-0.onnx imports version 0 of operator set "ai.onnx", which cannot exist; export it again",
        "opset-99: compile: ort:cpu: the model imports opset 99 of ai.onnx, expected at most 26; export it for that opset or use a newer onnxruntime; to convert: python3 -c "import onnx, onnx.version_converter; onnx.save(onnx.version_converter.convert_version(onnx.load('model.onnx'), 26), 'converted.onnx')"",
        "truncated: import: <project>/models/truncated.onnx is damaged: 141 bytes were announced, only 127 are there (near byte 153 of 139); get or export it again",
        "unknown-op: compile: ort:cpu: Load model from <project>/models/unknown-op.onnx failed:This is an invalid model. In Node, ("", Frobnicate, "", -1) : ("x": tensor(float),) -> ("y": tensor(float),) , Error No Op registered for Frobnicate with domain_version of 17; export the model without this op or use a version that has it",
        "unknown-value: compile: ort:cpu: Load model from <project>/models/unknown-value.onnx failed:Invalid model. Node input 'nowhere' is not a graph input, initializer, or output of a previous node.",
      ]
    `)
  })

  test('is refused by WebAssembly in the same words', async () => {
    const args = ['-k', 'opset-99 or unknown', '--reference', 'ort-web:wasm', '--target', 'ort:cpu']
    expect(await messagesOf(folder, args)).toMatchInlineSnapshot(`
      [
        "opset-99: compile: ort-web:wasm: the model imports opset 99 of ai.onnx, expected at most 26; export it for that opset or use a newer onnxruntime; to convert: python3 -c "import onnx, onnx.version_converter; onnx.save(onnx.version_converter.convert_version(onnx.load('model.onnx'), 26), 'converted.onnx')"",
        "unknown-op: compile: ort-web:wasm: Can't create a session. ERROR_CODE: 6, ERROR_MESSAGE: No Op registered for Frobnicate with domain_version of 17; export the model without this op or use a version that has it",
        "unknown-value: compile: ort-web:wasm: Can't create a session. ERROR_CODE: 2, ERROR_MESSAGE: Invalid model. Node input 'nowhere' is not a graph input, initializer, or output of a previous node.",
      ]
    `)
  })

  test('has a line of its own and no stack trace', async () => {
    const ran = await assay(['test'], folder)
    expectNoStack(ran)
    expect(ran.code).toBe(1)
    expect(ran.stderr).toBe('')
    const lines = ran.stdout
      .split('\n')
      .filter((line) => /^\[ ?\d+\/15\] ! error {2}\S+\/full_model@ort-web:wasm {2}.*: /.test(line))
    expect(lines).toHaveLength(15)
    expect(ran.stdout).toMatch(/^15 errors in /m)
  })

  test('is also a variant, which only the folder of a decoder has', async () => {
    const folder = project({ 'm.onnx': good })
    const { code, stderr } = await assay(['test', 'm.onnx', '--target', 'ort-web:wasm,variant=fp16'], folder)
    expect(code).toBe(4)
    expect(stderr).toContain('has variant=fp16, which chooses among the ONNX files of a decoder')
    expect(stderr).toContain('give the file itself with model= instead')
  })

  test('does not keep the others from being judged', async () => {
    const mixed = project({ 'models/broken.onnx': 'no', 'models/good.onnx': good })
    const { code, results } = await assayJson(['test'], mixed)
    expect(code).toBe(1)
    expect(results.map(({ model, verdict }) => [model, verdict])).toEqual([
      ['broken', 'error'],
      ['good', 'pass'],
    ])
  })
})

function expectNoStack({ stdout, stderr }: Ran): void {
  expect(stdout + stderr).not.toMatch(/^ {4}at |internal error/m)
}

describe('a command that makes no sense', () => {
  const folder = project({
    'good.onnx': good,
    'damaged/run.json': '{"schema":',
    'twins/a.onnx': good,
    'twins/a.bin': weights,
    'unknown-key.json': '{ "tolerancs": [] }',
    'vacuous.json': '{ "tolerances": [{ "op": "Add", "rtol": 2 }] }',
    'no.yaml': 'target: [\n',
    'no.ts': 'export default {',
  })
  mkdirSync(join(folder, 'nothing'))

  test.concurrent.each<[number, string, string]>([
    [4, 'test good.onnx --target ortt:cpu', 'unknown runtime "ortt" in target "ortt:cpu"; did you mean "ort"?'],
    [
      4,
      'test good.onnx --target ort:cpu,thread=2',
      'unknown key "thread" in target "ort:cpu,thread=2"; did you mean "threads"?',
    ],
    [
      4,
      'test good.onnx --target ort:cpu',
      'target "ort:cpu" is its own reference, so it cannot fail; give another --target or --reference',
    ],
    [4, 'test good.onnx --target ort-web:wasm,dtype=fp12', 'target "ort-web:wasm,dtype=fp12": dtype is one of '],
    [4, 'test good.onnx --reslut', "unknown option '--reslut'"],
    [4, 'test good.onnx --rtoll 1', "unknown option '--rtoll' (Did you mean --rtol?)"],
    [
      4,
      'test good.onnx --rtol 1',
      'rtol is 1, but must be at least 0 and below 1; with this value everything would pass; give a smaller limit',
    ],
    [4, 'test good.onnx --allowed-mismatch 1', 'allowedMismatch is 1, but must be at least 0 and below 1'],
    [4, 'test good.onnx --config vacuous.json', 'rtol is 2, but must be at least 0 and below 1'],
    [
      4,
      'test good.onnx --config unknown-key.json',
      'unknown key "tolerancs" in unknown-key.json; did you mean "tolerances"?',
    ],
    [4, 'test good.onnx --config no.yaml', 'cannot read no.yaml: '],
    [4, 'test good.onnx --config no.ts', 'cannot read no.ts: '],
    [4, 'test godo.onnx', 'no file or folder "godo.onnx"; did you mean "good.onnx"?'],
    [4, 'test missing.onnx', 'no file or folder "missing.onnx"; give an .onnx file, a folder or a quoted glob'],
    [4, 'test twins/*', 'two cases have the id "twins/a/full_model@ort-web:wasm": '],
    [4, 'test good.onnx -k (good', '-k "(good": found the end at column 6, expected "and", "or" or ")"'],
    [4, 'test good.onnx -t (', '-t "(": Invalid regular expression'],
    [4, 'test good.onnx --jobs 0', '--jobs takes a whole number from 1 up, found "0"'],
    [4, 'test good.onnx --dim n=many', '--dim takes name=size or name=size,size with whole numbers, found "n=many"'],
    [4, 'test good.onnx --input x', '--input takes name=…, found "x"; after the = write a range (-1..1)'],
    [4, 'test good.onnx --reporter xml', 'unknown reporter "xml"; known: github, json, junit, terminal'],
    [
      4,
      'test good.onnx --durations missing.json',
      '; expected {"case id": milliseconds}, as --save-durations writes it',
    ],
    [4, 'test good.onnx --output-dir good.onnx', ' is a file where a folder was expected; choose another folder'],
    [4, 'tset good.onnx', "unknown command 'tset' (Did you mean test?)"],
    [4, 'cache purge', 'unknown action "purge" of assay cache; known: clear, prune, status'],
    [4, 'merge', "missing required argument 'runs'"],
    [4, 'merge nothing', 'no run record in '],
    [4, 'merge damaged', 'is no JSON; the record is damaged'],
    [5, 'test nothing', 'no .onnx file in nothing'],
    [5, 'test', 'no file matches models/**/*.onnx; give an .onnx file, a folder or a quoted glob'],
    [5, 'test good.onnx -k bad', 'no case of good.onnx matches -k "bad"; assay list prints all ids'],
  ])('ends with %i and one line: assay %s', async (code, command, line) => {
    const ran = await assay(command.split(' '), folder)
    expectNoStack(ran)
    expect(ran.stderr).toMatch(/^assay: [^\n]+\n$/)
    expect(ran.stderr).toContain(line)
    expect(ran.code).toBe(code)
  })
})

describe('inputs that the model does not take', () => {
  const folder = project({ 'good.onnx': good, 'short.npy': npy([3]), 'ints.npy': npy([2, 3], '<i4') })

  test.concurrent.each<[string, string]>([
    ['--input xx=0..1', 'the model has no input "xx"; its inputs are x'],
    ['--dim batch=2', 'the model has no open dimension "batch"; its open dimensions are none'],
    ['--input x=short.npy', '<project>/short.npy has shape (3), but input "x" takes (2, 3); give a matching file'],
    ['--input x=ints.npy', '<project>/ints.npy holds int32, but input "x" takes float32; give a matching file'],
    ['--input x=1,2,3', 'input "x" (2, 3) takes 6 values, found 3'],
    [
      '--input x=missing.npy',
      'input "x" cannot be read from missing.npy: ENOENT: no such file or directory, open \'<project>/missing.npy\'',
    ],
    ['--target ort:cpu,model=missing.onnx', '<project>/missing.onnx does not exist; give the path of an ONNX model'],
    ['--target ort:tpu', 'ort:tpu is not available: onnxruntime-node 1.30.0 has no device "tpu", only '],
    ['--target command:./missing', 'command:./missing is not available: cannot start ./missing: there is no file '],
    ['--target recorded:./missing', 'recorded:./missing is not available: <project>/missing does not exist'],
  ])('are an error: %s', async (args, message) => {
    const [found] = await messagesOf(folder, ['good.onnx', ...args.split(' ')])
    expect(found).toContain(message)
    expect(found).not.toContain('\n')
  })
})

/** A NumPy file of zeros. */
function npy(shape: readonly number[], descr = '<f4'): Uint8Array {
  const text = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${shape.map((size) => `${size},`).join('')}), }`
  const header = `${text.padEnd(117)}\n`
  const head = Buffer.from(`\x93NUMPY\x01\x00\x76\x00${header}`, 'latin1')
  return Buffer.concat([head, Buffer.alloc(4 * shape.reduce((product, size) => product * size, 1))])
}
