import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { UsageError } from '../../../domain/errors.ts'
import { TestClock } from '../../../domain/testing/test-clock.ts'
import { buildModel } from '../../../onnx/builder.ts'
import { ModelProtoSchema, TensorProto_DataLocation, TensorProtoSchema } from '../../../onnx/generated/onnx-ml_pb.ts'
import { gitId, HUB_TOKEN, HubServer, sha256 } from '../../testing/hub-server.ts'
import { folderWith } from '../../testing/small-tokenizer.ts'
import type { RetryPolicy } from './http.ts'
import { resolveModel } from './resolve-model.ts'

const server = await HubServer.start()
afterAll(() => server.close())

const COMMIT = 'a'.repeat(40)
const RETRY_POLICY: RetryPolicy = { silenceMs: 30_000, pauseMs: 1, attempts: 3 }
const weights = Buffer.from(Array.from({ length: 50_000 }, (_, i) => i % 251))
const settings = { 'config.json': '{"model_type":"llama"}', 'tokenizer.json': '{}' }
const llama = { ...settings, 'model.safetensors': weights, 'README.md': 'read me', 'consolidated.safetensors': 'twice' }

let home = ''
beforeEach(() => {
  home = folderWith({})
  server.models.clear()
  server.models.set('org/llama', { commit: COMMIT, files: llama, large: ['model.safetensors'] })
  server.seen.length = 0
  server.mischief = {}
})

const repository = () => join(home, 'hub', 'models--org--llama')
const snapshot = () => join(repository(), 'snapshots', COMMIT)

type Options = Partial<Parameters<typeof resolveModel>[1]>

function resolve(text: string, options: Options = {}, environment: Record<string, string> = {}) {
  return resolveModel(text, {
    cwd: process.cwd(),
    weights: ['safetensors'],
    retryPolicy: RETRY_POLICY,
    environment: { HF_HOME: home, HF_ENDPOINT: server.endpoint, ...environment },
    ...options,
  })
}

test('a path that exists is what it is, and nobody is asked', async () => {
  const folder = folderWith({ 'config.json': '{}' })
  expect(await resolve(folder)).toEqual({ path: folder, origin: 'path', id: null, commit: null })
  expect(server.seen).toEqual([])
})

test('a model comes from the hub once, in the layout that other tools share, and then from the cache', async () => {
  expect(await resolve('org/llama')).toEqual({ path: snapshot(), origin: 'hub', id: 'org/llama', commit: COMMIT })
  expect(readdirSync(snapshot()).sort()).toEqual(['config.json', 'model.safetensors', 'tokenizer.json'])
  expect(readFileSync(join(snapshot(), 'model.safetensors')).equals(weights)).toBe(true)
  expect(readlinkSync(join(snapshot(), 'model.safetensors'))).toBe(`../../blobs/${sha256(weights)}`)
  expect(readlinkSync(join(snapshot(), 'config.json'))).toBe(`../../blobs/${gitId(settings['config.json'])}`)
  expect(readFileSync(join(repository(), 'refs', 'main'), 'utf8')).toBe(COMMIT)
  expect(readdirSync(join(repository(), 'blobs'))).toHaveLength(3)
  server.seen.length = 0
  expect(await resolve('org/llama')).toEqual({ path: snapshot(), origin: 'cache', id: 'org/llama', commit: COMMIT })
  expect(server.seen).toEqual([])
})

test.each([
  [{ HF_HUB_CACHE: '{home}/x' }, 'x'],
  [{ HF_HOME: '', XDG_CACHE_HOME: '{home}' }, 'huggingface/hub'],
  [{ HF_HOME: '~/y', HOME: '{home}' }, 'y/hub'],
  [{ HF_HOME: '', HOME: '{home}' }, '.cache/huggingface/hub'],
])('the cache lies where the variables %j say', async (variables, place) => {
  const environment = Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [name, value.replace('{home}', home)]),
  )
  const base = 'HF_HOME' in variables ? {} : { HF_HOME: home }
  await resolve('org/llama', { environment: { HF_ENDPOINT: server.endpoint, ...base, ...environment } })
  expect(readdirSync(join(home, place))).toEqual(['models--org--llama'])
})

test('a branch, tag or commit is asked for with @', async () => {
  server.models.set('org/llama', { commit: COMMIT, files: llama, branches: ['refs/pr/7'] })
  expect((await resolve('org/llama@refs/pr/7')).commit).toBe(COMMIT)
  expect(readFileSync(join(repository(), 'refs', 'refs/pr/7'), 'utf8')).toBe(COMMIT)
  expect((await resolve(`org/llama@${COMMIT}`, { offline: true })).origin).toBe('cache')
  await expect(resolve('org/llama@v9')).rejects.toThrow(`org/llama has no revision v9 at ${server.endpoint}`)
})

test('the token goes to the hub and never to the host of the files', async () => {
  server.models.set('org/llama', { commit: COMMIT, files: llama, large: ['model.safetensors'], access: 'gated' })
  await resolve('org/llama', {}, { HF_TOKEN: ` ${HUB_TOKEN}\n` })
  const hosts = (host: string) => server.seen.filter((each) => each.host === host).map((each) => each.authorization)
  expect(new Set(hosts('hub'))).toEqual(new Set([`Bearer ${HUB_TOKEN}`]))
  expect(hosts('store')).toEqual([null])
})

test('the token that a login left is used', async () => {
  server.models.set('org/llama', { commit: COMMIT, files: llama, access: 'private' })
  writeFileSync(join(home, 'token'), HUB_TOKEN)
  expect((await resolve('org/llama')).origin).toBe('hub')
})

test('a variable that is empty is not set', async () => {
  server.models.set('org/llama', { commit: COMMIT, files: llama, access: 'private' })
  writeFileSync(join(home, 'token'), HUB_TOKEN)
  expect((await resolve('org/llama', {}, { HF_TOKEN: '', HF_HUB_CACHE: '', HF_HUB_OFFLINE: '' })).path).toBe(snapshot())
})

test('two that want the same model at once both get it', async () => {
  const models = await Promise.all([resolve('org/llama'), resolve('org/llama'), resolve('org/llama')])
  expect(new Set(models.map(({ path }) => path))).toEqual(new Set([snapshot()]))
  expect(readFileSync(join(snapshot(), 'model.safetensors')).equals(weights)).toBe(true)
  expect(readdirSync(join(repository(), 'blobs'))).toHaveLength(3)
})

test('a token that is none is refused without being shown', async () => {
  const failure = await resolve('org/llama', {}, { HF_TOKEN: 'hf_\u00e4 b' }).catch((error: Error) => error)
  expect(String(failure)).toContain('HF_TOKEN contains spaces or other characters')
  expect(String(failure)).not.toContain('hf_')
})

test('a gated model says where to ask for access', async () => {
  server.models.set('org/llama', { commit: COMMIT, files: llama, access: 'gated' })
  await expect(resolve('org/llama')).rejects.toThrow(
    `is gated: ask for access at ${server.endpoint}/org/llama, then set HF_TOKEN to a token of that account`,
  )
})

test('a model that does not exist, or not for everybody, is refused in plain words', async () => {
  await expect(resolve('org/nothing')).rejects.toThrow(
    `org/nothing does not exist at ${server.endpoint} or needs a login (the hub does not say which); check the name, or set HF_TOKEN`,
  )
  await expect(resolve('org/nothing', {}, { HF_TOKEN: HUB_TOKEN })).rejects.toThrow(
    'whether the current token is valid',
  )
})

test('offline, only what is here is used', async () => {
  await expect(resolve('org/llama', { offline: true })).rejects.toThrow(
    `org/llama is neither a folder here nor in the Hugging Face cache ${join(home, 'hub')}, and --offline forbids asking the hub`,
  )
  await resolve('org/llama')
  server.seen.length = 0
  expect((await resolve('org/llama', { offline: true })).origin).toBe('cache')
  await expect(resolve('org/lama', {}, { HF_HUB_OFFLINE: '1' })).rejects.toThrow(
    'HF_HUB_OFFLINE forbids asking the hub; did you mean org/llama?',
  )
  expect(server.seen).toEqual([])
})

test('a part of a model in the cache is completed, and is no model offline', async () => {
  await resolve('org/llama', { weights: [] })
  expect(readdirSync(snapshot()).sort()).toEqual(['config.json', 'tokenizer.json'])
  await expect(resolve('org/llama', { offline: true })).rejects.toThrow('has only a part of org/llama')
  expect((await resolve('org/llama')).origin).toBe('hub')
  expect(existsSync(join(snapshot(), 'model.safetensors'))).toBe(true)
})

test('a link whose content is gone counts as missing', async () => {
  await resolve('org/llama')
  rmSync(join(repository(), 'blobs', sha256(weights)))
  expect((await resolve('org/llama')).origin).toBe('hub')
  expect(readFileSync(join(snapshot(), 'model.safetensors')).equals(weights)).toBe(true)
})

test('where the hub cannot be reached, what the cache has is used and that is said', async () => {
  await resolve('org/llama')
  const notices: string[] = []
  const far = { HF_ENDPOINT: 'http://127.0.0.1:9' }
  const model = await resolve(
    'org/llama',
    { weights: ['onnx', 'safetensors'], notice: (text) => notices.push(text) },
    far,
  )
  expect(model.origin).toBe('cache')
  expect(notices[0]).toMatch(/^cannot reach 127\.0\.0\.1:9: .*; using what the cache has of org\/llama$/)
  await expect(resolve('org/other', {}, far)).rejects.toThrow('check the network, name a mirror with HF_ENDPOINT')
})

test('weights in several files come as their index names them', async () => {
  const index = JSON.stringify({
    weight_map: { a: 'model-1.safetensors', b: 'model-2.safetensors', c: 'model-1.safetensors' },
  })
  const shards = { 'model-1.safetensors': 'one', 'model-2.safetensors': 'two', 'consolidated.safetensors': 'twice' }
  const files = { ...settings, 'model.safetensors.index.json': index, ...shards }
  server.models.set('org/llama', { commit: COMMIT, files })
  await resolve('org/llama')
  const names = Object.keys(files).filter((name) => !name.startsWith('consolidated'))
  expect(readdirSync(snapshot()).sort()).toEqual(names.sort())
  rmSync(join(snapshot(), 'model-2.safetensors'))
  expect((await resolve('org/llama')).origin).toBe('hub')
})

test.each([
  ['{"weight_map":{"a":"../../../evil"}}', 'names the file "../../../evil"; expected a path inside it'],
  ['{"weight_map":{"a":"/etc/passwd"}}', 'names the file "/etc/passwd"; expected a path inside it'],
  ['{"weight_map":{"a":"gone.safetensors"}}', 'names gone.safetensors, which is not among the model'],
  ['{"weight_map":{"a":7}}', 'model.safetensors.index.json names no files'],
  ['{', 'model.safetensors.index.json is not JSON'],
])('an index of %s is refused', async (index, message) => {
  server.models.set('org/llama', { commit: COMMIT, files: { ...settings, 'model.safetensors.index.json': index } })
  await expect(resolve('org/llama')).rejects.toThrow(message)
  expect(existsSync(join(repository(), 'refs'))).toBe(false)
})

test.each(['../evil', '/evil', 'a/../../evil', 'a//b', '.', '..', ''])(
  'a hub that names a file %j is refused',
  async (name) => {
    server.mischief = { renames: { 'config.json': name } }
    await expect(resolve('org/llama')).rejects.toThrow('org/llama names the file')
    expect(existsSync(join(home, 'hub'))).toBe(false)
  },
)

test.each(['a\\..\\evil', 'c:evil', 'a\nb'])(
  'a file named %j, which not every system could have, is left out',
  async (name) => {
    server.mischief = { renames: { 'README.md': name } }
    expect((await resolve('org/llama')).origin).toBe('hub')
  },
)

test('a model of which only the tokenizer is wanted needs no more', async () => {
  server.models.set('org/llama', { commit: COMMIT, files: { 'tokenizer.json': '{}' } })
  expect((await resolve('org/llama', { weights: [] })).origin).toBe('hub')
  expect((await resolve('org/llama', { weights: [] })).origin).toBe('cache')
})

/** Whether so much of a file is on the disk. */
function hasArrived(size: number): boolean {
  const blobs = join(repository(), 'blobs')
  const parts = readdirSync(blobs).filter((name) => name.includes('incomplete'))
  return parts.some((name) => statSync(join(blobs, name)).size >= size)
}

test('a download that breaks off goes on where it was', async () => {
  server.mischief = { breakAfter: { bytes: 20_000, times: 2, hasArrived } }
  await resolve('org/llama')
  expect(readFileSync(join(snapshot(), 'model.safetensors')).equals(weights)).toBe(true)
  expect(server.seen.filter(({ host }) => host === 'store').map(({ range }) => range)).toEqual([
    null,
    'bytes=20000-',
    'bytes=40000-',
  ])
})

test('a download that was given up is gone on with by the next', async () => {
  server.mischief = { breakAfter: { bytes: 20_000, times: 1, hasArrived } }
  await expect(resolve('org/llama', { retryPolicy: { ...RETRY_POLICY, attempts: 1 } })).rejects.toThrow(
    /cannot reach|broke off/,
  )
  expect(existsSync(join(repository(), 'refs'))).toBe(false)
  expect(readdirSync(join(repository(), 'blobs'))).toContain(`${sha256(weights)}.assay-left.incomplete`)
  server.seen.length = 0
  await resolve('org/llama')
  expect(server.seen.filter(({ host }) => host === 'store').map(({ range }) => range)).toEqual(['bytes=20000-'])
  expect(readdirSync(join(repository(), 'blobs')).filter((name) => name.includes('incomplete'))).toEqual([])
})

const partOf = (pid: string, bytes: Uint8Array) => {
  const path = join(repository(), 'blobs', `${sha256(weights)}.assay-${pid}.incomplete`)
  mkdirSync(join(repository(), 'blobs'), { recursive: true })
  writeFileSync(path, bytes)
  return path
}
const storeRanges = () => server.seen.filter(({ host }) => host === 'store').map(({ range }) => range)

test('what a killed process left is taken over, what a living one writes is not', async () => {
  const living = partOf('7-living', weights.subarray(0, 100))
  utimesSync(partOf('8-killed', weights.subarray(0, 30_000)), 1, 1)
  await resolve('org/llama')
  expect(storeRanges()).toEqual(['bytes=30000-'])
  expect(readFileSync(living)).toHaveLength(100)
  expect(readFileSync(join(snapshot(), 'model.safetensors')).equals(weights)).toBe(true)
})

test('a part that was whole already is not asked for again', async () => {
  partOf('left', weights)
  await resolve('org/llama')
  expect(storeRanges()).toEqual([])
})

test('a part of something else is found out and not kept', async () => {
  partOf('left', Buffer.alloc(30_000))
  await expect(resolve('org/llama')).rejects.toThrow('model.safetensors from 127.0.0.1')
  expect((await resolve('org/llama')).origin).toBe('hub')
})

test('a server that takes no ranges gives everything once more', async () => {
  server.mischief = { breakAfter: { bytes: 20_000, times: 1, hasArrived }, ignoresRanges: true }
  await resolve('org/llama')
  expect(readFileSync(join(snapshot(), 'model.safetensors')).equals(weights)).toBe(true)
})

test('content that is not what the hub promised is refused and removed', async () => {
  server.mischief = { corrupts: true }
  await expect(resolve('org/llama')).rejects.toThrow(
    /(config|tokenizer)\.json from .* is not what the hub has; it was removed/,
  )
  const large = { commit: COMMIT, files: llama, large: Object.keys(llama) }
  server.models.set('org/llama', large)
  await expect(resolve('org/llama')).rejects.toThrow(
    'has a different SHA-256 than the hub says; it was removed, try again',
  )
  expect(readdirSync(join(repository(), 'blobs'))).toEqual([])
  server.mischief = { corrupts: true, hidesFacts: true }
  await expect(resolve('org/llama')).rejects.toThrow('has a different SHA-256 than the hub says')
})

test('a file that does not end is not waited for', async () => {
  server.mischief = { endless: true }
  await expect(resolve('org/llama')).rejects.toThrow('config.json from 127.0.0.1')
})

test('a hub that says nothing about files but their names will do', async () => {
  server.mischief = { hidesFacts: true }
  await resolve('org/llama')
  expect(readFileSync(join(snapshot(), 'model.safetensors')).equals(weights)).toBe(true)
  expect(readlinkSync(join(snapshot(), 'model.safetensors'))).toBe(`../../blobs/${sha256(weights)}`)
})

test.each([429, 500, 503])('an answer of %d is asked for again', async (status) => {
  server.mischief = { refuse: { status, times: 2 } }
  expect((await resolve('org/llama')).origin).toBe('hub')
  server.mischief = { refuse: { status, times: 99 } }
  await expect(resolve('org/llama@v2')).rejects.toThrow(`answers ${status}`)
})

test('a server that says nothing is not waited for without end', async () => {
  const clock = new TestClock()
  const retryPolicy = { ...RETRY_POLICY, clock }
  const begins = () => clock.runOut()
  server.mischief = { silence: { times: 1, begins } }
  expect((await resolve('org/llama', { retryPolicy })).origin).toBe('hub')
  server.mischief = { silence: { times: 99, begins } }
  await expect(resolve('org/llama@v2', { retryPolicy })).rejects.toThrow('no data came for 30 s')
})

test('a list of files that has no end is refused', async () => {
  server.mischief = { endlessList: true }
  await expect(resolve('org/llama')).rejects.toThrow(
    'the hub answers more than 64 MiB for org/llama; check HF_ENDPOINT',
  )
})

test('a list of files that is not finished is a failure of the network', async () => {
  const clock = new TestClock()
  server.mischief = { unfinishedList: true }
  // The first is for the answer, the second for what follows its first part.
  const hasBegun = clock.started(2)
  const asked = resolve('org/llama', { retryPolicy: { ...RETRY_POLICY, clock } })
  void hasBegun.then(() => clock.runOut())
  await expect(asked).rejects.toThrow(UsageError)
  await expect(asked).rejects.toThrow(/^cannot reach 127\.0\.0\.1:\d+: no data came for 30 s/)
})

test('bytes are counted as they come', async () => {
  const counts: [number, number | null][] = []
  await resolve('org/llama', { onProgress: ({ doneBytes, totalBytes }) => counts.push([doneBytes, totalBytes]) })
  const total = Buffer.byteLength(settings['config.json']) + 2 + weights.length
  expect(counts.at(-1)).toEqual([total, total])
  expect(counts.every(([done], i) => i === 0 || done >= counts[i - 1]![0])).toBe(true)
})

test('a download can be ended', async () => {
  const ending = new AbortController()
  const model = resolve('org/llama', { signal: ending.signal, onProgress: () => ending.abort(new Error('enough')) })
  await expect(model).rejects.toThrow('enough')
  expect(existsSync(join(repository(), 'refs'))).toBe(false)
})

/** Its one tensor lies in `w.bin`. */
function onnxWithExternal(): Uint8Array {
  const output = { name: 'y', dtype: 'float32' } as const
  const node = { op: 'Identity', inputs: ['w'], outputs: ['y'] }
  const proto = fromBinary(ModelProtoSchema, buildModel({ nodes: [node], outputs: [output] }))
  const externalData = [{ key: 'location', value: 'w.bin' }]
  const facts = { name: 'w', dims: [4n], dataType: 1, dataLocation: TensorProto_DataLocation.EXTERNAL }
  proto.graph!.initializer.push(create(TensorProtoSchema, { ...facts, externalData }))
  return toBinary(ModelProtoSchema, proto)
}

test('of a model with ONNX the graph comes with its external data', async () => {
  const files = {
    ...settings,
    'onnx/model.onnx': onnxWithExternal(),
    'onnx/w.bin': 'x'.repeat(16),
    'onnx/model_q4.onnx': 'no',
  }
  server.models.set('org/llama', { commit: COMMIT, files, large: ['onnx/w.bin'] })
  await resolve('org/llama', { weights: ['onnx', 'safetensors'] })
  expect(readdirSync(join(snapshot(), 'onnx')).sort()).toEqual(['model.onnx', 'w.bin'])
  expect(readlinkSync(join(snapshot(), 'onnx', 'w.bin'))).toBe(`../../../blobs/${sha256('x'.repeat(16))}`)
  expect((await resolve('org/llama', { weights: ['onnx'] })).origin).toBe('cache')
  rmSync(join(snapshot(), 'onnx', 'w.bin'))
  expect((await resolve('org/llama', { weights: ['onnx'] })).origin).toBe('hub')
})

test('another choice of ONNX file can be made', async () => {
  const files = { ...settings, 'a.onnx': onnxWithExternal(), 'w.bin': 'x'.repeat(16) }
  server.models.set('org/llama', { commit: COMMIT, files })
  await resolve('org/llama', {
    weights: ['onnx'],
    chooseOnnx: (names) => names.find((name) => name === 'a.onnx') ?? null,
  })
  expect(existsSync(join(snapshot(), 'w.bin'))).toBe(true)
})

test('a model without weights that can be used says what it has', async () => {
  server.models.set('org/llama', { commit: COMMIT, files: { ...settings, 'pytorch_model.bin': 'pickle' } })
  await expect(resolve('org/llama', { weights: ['onnx', 'safetensors'] })).rejects.toThrow(
    'org/llama has no ONNX model or safetensors weights that can be used (it has pytorch_model.bin)',
  )
})

test.each(['./nowhere', 'a/b/c', '/nowhere', 'a--b', '-x', 'a b', 'org/..', 'x@a@b', 'x@', 'x@../y', ''])(
  '%j is neither a path nor an id',
  async (text) => {
    await expect(resolve(text)).rejects.toThrow('does not exist; give a folder, a file, or an id such as owner/name')
    expect(server.seen).toEqual([])
  },
)

test('a mistyped path says what it may have been', async () => {
  const folder = folderWith({ 'model.onnx': 'x' })
  await expect(resolve(join(folder, 'modle.onnx'))).rejects.toThrow(`did you mean ${join(folder, 'model.onnx')}?`)
})

test.each(['nonsense', 'ftp://x', 'http://user:secret@host'])('an HF_ENDPOINT of %s is refused', async (endpoint) => {
  await expect(resolve('org/llama', {}, { HF_ENDPOINT: endpoint })).rejects.toThrow('HF_ENDPOINT is not a web address')
})
