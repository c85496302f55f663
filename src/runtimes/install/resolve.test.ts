import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmod, mkdir, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { makeOwnFolder } from './own-folder.ts'
import { locatePackage, resolvePackage } from './resolve.ts'

const NAME = 'onnxruntime-web'
const newFolder = () => mkdtemp(join(tmpdir(), 'assay-resolve-'))
let downloads = 0
const credentials: string[] = []

const VERSIONS = ['1.30.0', '1.2.3', '1.31.0-dev.1', '1.2.10']
const TAGS = { latest: '1.30.0', next: '1.31.0-dev.1' }

/** A registry with a few versions of a tiny package. */
async function startRegistry() {
  const source = join(await newFolder(), 'package')
  await mkdir(source)
  const tarballs = new Map<string, Buffer>()
  for (const version of VERSIONS) {
    const scripts = { install: 'exit 1' }
    await writeFile(join(source, 'package.json'), JSON.stringify({ name: NAME, version, scripts }))
    tarballs.set(version, spawnSync('tar', ['-cz', '-C', join(source, '..'), 'package']).stdout)
  }
  const server = createServer((request, response) => {
    if (request.headers.authorization) credentials.push(request.headers.authorization)
    const { port } = server.address() as AddressInfo
    const wanted = /^\/tarball\/(.*)\.tgz$/.exec(request.url ?? '')?.[1]
    if (wanted) {
      downloads++
      response.end(tarballs.get(wanted))
      return
    }
    if (request.url !== `/${NAME}`) {
      response.writeHead(404).end('{}')
      return
    }
    const versions = [...tarballs].map(([version, bytes]) => {
      const integrity = `sha512-${createHash('sha512').update(new Uint8Array(bytes)).digest('base64')}`
      const dist = { tarball: `http://127.0.0.1:${port}/tarball/${version}.tgz`, integrity }
      return [version, { name: NAME, version, dist }]
    })
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ name: NAME, 'dist-tags': TAGS, versions: Object.fromEntries(versions) }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

async function emptyContext() {
  const notices: string[] = []
  const folder = await newFolder()
  const projectFolder = join(folder, 'a project')
  await mkdir(projectFolder)
  const notice = (text: string) => notices.push(text)
  return { environment: process.env, projectFolder, runtimesFolder: join(folder, 'run times'), notice, notices }
}

async function ownCopy(projectFolder: string, version: string): Promise<string> {
  const folder = join(projectFolder, 'node_modules', NAME)
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), JSON.stringify({ version }))
  return folder
}

describe('where a runtime comes from', () => {
  let server: Awaited<ReturnType<typeof startRegistry>>
  beforeAll(async () => {
    server = await startRegistry()
    vi.stubEnv('npm_config_registry', `http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    vi.stubEnv('npm_config_cache', await newFolder())
    vi.stubEnv('npm_config_fetch_retries', '0')
  })
  afterAll(async () => {
    vi.unstubAllEnvs()
    await new Promise((resolve) => server.close(resolve))
  })

  test("the user's own copy is taken, also from a folder above", async () => {
    const context = await emptyContext()
    const folder = await ownCopy(context.projectFolder, '1.9.9')
    const inside = { ...context, projectFolder: join(context.projectFolder, 'packages/inner') }
    expect(await resolvePackage(NAME, null, inside)).toEqual({ folder, version: '1.9.9' })
    expect(await resolvePackage(NAME, '1.9.9', inside)).toEqual({ folder, version: '1.9.9' })
  })

  test('otherwise the pinned version is installed, once, without its scripts, with a notice', async () => {
    const context = await emptyContext()
    downloads = 0
    const found = await Promise.all([resolvePackage(NAME, null, context), resolvePackage(NAME, null, context)])
    const folder = join(context.runtimesFolder, `${NAME}@1.30.0`, 'node_modules', NAME)
    expect(found).toEqual([
      { folder, version: '1.30.0' },
      { folder, version: '1.30.0' },
    ])
    expect(JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')).version).toBe('1.30.0')
    expect(downloads).toBe(1)
    expect(context.notices).toEqual([
      'installing onnxruntime-web@1.30.0, once for this project …',
      expect.stringMatching(/^installed onnxruntime-web@1\.30\.0 in [\d.]+ s$/),
    ])
    expect(await readdir(context.runtimesFolder)).toEqual(['.owner', `${NAME}@1.30.0`])
  })

  test('what lies in the place of our runtimes is not run; ours are installed beside it', async () => {
    const context = await emptyContext()
    const planted = join(context.runtimesFolder, `${NAME}@1.30.0`, 'node_modules', NAME)
    await mkdir(planted, { recursive: true })
    await writeFile(join(planted, 'package.json'), JSON.stringify({ version: '1.30.0' }))
    expect(await locatePackage(NAME, null, context)).toMatchObject({ path: null, onFirstUse: true })
    const { folder } = await resolvePackage(NAME, null, context)
    expect(folder).not.toBe(planted)
    expect(folder.startsWith(`${context.runtimesFolder}-`)).toBe(true)
    expect(context.notices[0]).toMatch(
      /run times was not made by you on this machine, so nothing in it is run; .* instead$/,
    )
    expect(await locatePackage(NAME, null, context)).toMatchObject({ path: folder })
    expect((await resolvePackage(NAME, null, context)).folder).toBe(folder)
    expect(context.notices.filter((text) => text.includes('not made by you'))).toHaveLength(1)
  })

  test('a settings file of npm in the place of our runtimes has no say', async () => {
    const context = await emptyContext()
    const { port } = server.address() as AddressInfo
    await mkdir(context.runtimesFolder)
    const lines = [`registry=http://127.0.0.1:${port}/`, `//127.0.0.1:${port}/:_authToken=\${NPM_TOKEN}`]
    await writeFile(join(context.runtimesFolder, '.npmrc'), lines.join('\n'))
    const environment = { ...process.env, NPM_TOKEN: 'npm_hunter2', TMPDIR: await newFolder() }
    credentials.length = 0
    expect((await resolvePackage(NAME, 'latest', { ...context, environment })).version).toBe('1.30.0')
    expect(credentials).toEqual([])
    expect(await readdir(environment.TMPDIR)).toEqual([])
  })

  test('of a folder that is said to be a stranger’s no copy is taken', async () => {
    const context = await emptyContext()
    await ownCopy(context.projectFolder, '1.9.9')
    const found = await resolvePackage(NAME, null, { ...context, usesProject: false })
    expect(found).toMatchObject({ folder: expect.stringContaining(context.runtimesFolder), version: '1.30.0' })
  })

  test('a copy above the project that others can change is passed over', async () => {
    const context = await emptyContext()
    const above = await ownCopy(join(context.projectFolder, '..'), '1.9.9')
    expect(await resolvePackage(NAME, null, context)).toEqual({ folder: above, version: '1.9.9' })
    await chmod(join(context.projectFolder, '..'), 0o777)
    expect((await resolvePackage(NAME, null, context)).version).toBe('1.30.0')
    const passed = `${above} is not used, because somebody else can write ${join(context.projectFolder, '..')} or owns it`
    expect(context.notices[0]).toBe(passed)
  })

  test('a version that was asked for is installed although the project has another one', async () => {
    const context = await emptyContext()
    await ownCopy(context.projectFolder, '1.9.9')
    expect((await resolvePackage(NAME, '1.2.3', context)).version).toBe('1.2.3')
  })

  test('a lock whose owner died is taken over', async () => {
    const context = await emptyContext()
    await makeOwnFolder(context.runtimesFolder, process.env)
    const dead = spawnSync('true').pid
    await writeFile(join(context.runtimesFolder, `${NAME}@1.30.0.lock`), String(dead))
    expect((await resolvePackage(NAME, null, context)).version).toBe('1.30.0')
  })

  test('a version that does not exist is answered with those that do, and leaves nothing behind', async () => {
    const context = await emptyContext()
    await expect(resolvePackage(NAME, '9.9.9', context)).rejects.toMatchObject({
      code: 'install',
      message: 'onnxruntime-web has no version 9.9.9; the newest are 1.30.0, 1.2.10, 1.2.3',
    })
    expect(await readdir(context.runtimesFolder)).toEqual(['.owner'])
  })

  test.each([
    ['1.2', '1.2.10'],
    ['next', '1.31.0-dev.1'],
  ])('%s is looked up: %s', async (word, version) => {
    const context = await emptyContext()
    const [found, again] = await Promise.all([resolvePackage(NAME, word, context), resolvePackage(NAME, word, context)])
    expect(found).toEqual({ folder: join(context.runtimesFolder, `${NAME}@${version}`, 'node_modules', NAME), version })
    expect(again).toEqual(found)
    expect(context.notices.filter((text) => !/^install/.test(text))).toEqual([`${NAME}@${word} is ${version}`])
  })

  test('what one registry answered is not taken for the answer of another', async () => {
    const context = await emptyContext()
    expect((await resolvePackage(NAME, 'latest', context)).version).toBe('1.30.0')
    const environment = { ...process.env, npm_config_registry: 'http://127.0.0.1:9/' }
    await expect(resolvePackage(NAME, 'latest', { ...context, environment })).rejects.toThrow(/ECONNREFUSED/)
  })

  test("the user's own copy is taken if it is what a tag means", async () => {
    const context = await emptyContext()
    const folder = await ownCopy(context.projectFolder, '1.30.0')
    expect(await resolvePackage(NAME, 'latest', context)).toEqual({ folder, version: '1.30.0' })
  })

  test.each([
    ['lates', 'onnxruntime-web has no version lates; did you mean "latest"?'],
    ['1.28', 'onnxruntime-web has no version 1.28; the newest are 1.30.0, 1.2.10, 1.2.3'],
  ])('%s is neither a tag nor the beginning of a version', async (word, message) => {
    await expect(resolvePackage(NAME, word, await emptyContext())).rejects.toMatchObject({ code: 'install', message })
  })

  test('the registry may also say nothing of use', async () => {
    await expect(resolvePackage('onnxruntime-node', 'latest', await emptyContext())).rejects.toThrow(
      /^cannot ask the registry which version onnxruntime-node@latest is, .* name an exact one .*; npm said: Not Found/,
    )
  })

  test.each(['', '../../evil', '..', '^1.30', 'evil.tgz', '--registry=http://evil'])(
    '"%s" is not a version',
    async (version) => {
      await expect(resolvePackage(NAME, version, await emptyContext())).rejects.toThrow(
        'write one such as 1.30.0, 1.30 or latest',
      )
    },
  )

  describe('without a registry', () => {
    beforeAll(() => {
      vi.stubEnv('npm_config_registry', 'http://127.0.0.1:9/')
    })

    test('an exact version that is installed is used', async () => {
      const context = await emptyContext()
      await mkdir(join(await makeOwnFolder(context.runtimesFolder, process.env), `${NAME}@1.2.3`))
      expect((await resolvePackage(NAME, '1.2.3', context)).version).toBe('1.2.3')
      expect(context.notices).toEqual([])
    })

    test('a tag cannot be looked up', async () => {
      await expect(resolvePackage(NAME, 'beta', await emptyContext())).rejects.toMatchObject({
        code: 'install',
        message: expect.stringMatching(/name an exact one such as 1\.30\.0; npm said: .*ECONNREFUSED/),
      })
    })

    test('an installation says what npm said and leaves nothing behind', async () => {
      const context = await emptyContext()
      await expect(resolvePackage(NAME, '1.2.3', context)).rejects.toThrow(
        /cannot install onnxruntime-web@1\.2\.3; npm said: .*ECONNREFUSED/s,
      )
      expect(await readdir(context.runtimesFolder)).toEqual(['.owner'])
    })
  })
})

describe('where a package would come from', () => {
  test('is told without installing it', async () => {
    const context = await emptyContext()
    const remedy = `npm install --save-dev ${NAME}@1.30.0`
    const absent = { name: NAME, version: '1.30.0', path: null, onFirstUse: true, remedy }
    expect(await locatePackage(NAME, null, context)).toEqual(absent)
    expect(await locatePackage(NAME, 'latest', context)).toMatchObject({ version: null, path: null, onFirstUse: true })
    expect([context.notices, await readdir(join(context.projectFolder, '..'))]).toEqual([[], ['a project']])
  })

  test('is the copy of the project, or one that was installed before', async () => {
    const context = await emptyContext()
    const own = join(context.projectFolder, 'node_modules', NAME)
    await makeOwnFolder(context.runtimesFolder, process.env)
    const installed = join(context.runtimesFolder, `${NAME}@1.22.0`, 'node_modules', NAME)
    for (const [folder, version] of [[own, '1.29.0'] as const, [installed, '1.22.0'] as const]) {
      await mkdir(folder, { recursive: true })
      await writeFile(join(folder, 'package.json'), JSON.stringify({ version }))
    }
    expect(await locatePackage(NAME, null, context)).toMatchObject({ version: '1.29.0', path: own })
    expect(await locatePackage(NAME, '1.22.0', context)).toMatchObject({ version: '1.22.0', path: installed })
    expect(await locatePackage(NAME, '1.23.0', context)).toMatchObject({ version: '1.23.0', path: null })
  })
})
