import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Reporter } from '../domain/run.ts'
import { createReporters } from './registry.ts'
import { allVerdicts, KeptStream, replayEvents, sampleContext } from './testing/sample-run.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assay-reporters-'))
})
afterEach(() => rm(folder, { recursive: true }))

async function replay(reporters: readonly Reporter[]): Promise<void> {
  for (const event of replayEvents(allVerdicts)) for (const reporter of reporters) await reporter.onEvent(event)
}

describe('where reports go', () => {
  test('a document without a file has stdout to itself', async () => {
    const [stdout, stderr] = [new KeptStream(), new KeptStream()]
    await replay(await createReporters(['terminal', 'json', 'github'], sampleContext(stdout, { stderr })))
    expect(JSON.parse(stdout.text).results).toHaveLength(8)
    expect(stderr.text).toContain('in 140.35s (0:02:20)')
    expect(stderr.text).toContain('::error title=')
  })

  test('with documents in files the terminal has stdout', async () => {
    const [stdout, stderr] = [new KeptStream(), new KeptStream()]
    const specs = ['terminal', `json:${folder}/deep/er/run.json`, `junit:${folder}/junit.xml`]
    await replay(await createReporters(specs, sampleContext(stdout, { stderr })))
    expect(stdout.text).toContain('in 140.35s (0:02:20)')
    expect(stderr.text).toBe('')
    expect(JSON.parse(await readFile(join(folder, 'deep/er/run.json'), 'utf8')).results).toHaveLength(8)
    expect(await readFile(join(folder, 'junit.xml'), 'utf8')).toContain('<testsuites ')
    expect(await readdir(folder)).toEqual(['deep', 'junit.xml'])
  })

  test('a report replaces the one of the run before', async () => {
    const file = join(folder, 'junit.xml')
    await writeFile(file, 'old'.repeat(1_000_000))
    await replay(await createReporters([`junit:${file}`], sampleContext(new KeptStream())))
    expect(await readFile(file, 'utf8')).toMatch(/^<\?xml .*<\/testsuites>\n$/s)
  })

  test('the step summary goes where GitHub says, or where asked', async () => {
    const env = { GITHUB_STEP_SUMMARY: join(folder, 'summary.md') }
    await writeFile(env.GITHUB_STEP_SUMMARY, 'from the step before\n')
    await replay(
      await createReporters(['github', `github:${folder}/mine.md`], sampleContext(new KeptStream(), { env })),
    )
    expect(await readFile(env.GITHUB_STEP_SUMMARY, 'utf8')).toMatch(/^from the step before\n## ❌ Assay/)
    expect(await readFile(join(folder, 'mine.md'), 'utf8')).toMatch(/^## ❌ Assay/)
  })

  test('a link to a file keeps being a link', async () => {
    await writeFile(join(folder, 'real.xml'), '')
    await symlink(join(folder, 'real.xml'), join(folder, 'link.xml'))
    await replay(await createReporters([`junit:${folder}/link.xml`], sampleContext(new KeptStream())))
    expect(await readFile(join(folder, 'real.xml'), 'utf8')).toContain('<testsuites ')
  })
})

describe('what is refused before the run', () => {
  const create = (...specs: string[]) => createReporters(specs, sampleContext(new KeptStream()))

  test.each([
    ['junt', 'unknown reporter "junt"; did you mean "junit"?'],
    ['html5report', 'unknown reporter "html5report"; known: github, json, junit, terminal'],
    ['constructor', 'unknown reporter "constructor"; known: github, json, junit, terminal'],
    ['junit:', 'reporter "junit:" names no file after the colon; write junit:<file>'],
    ['terminal:x.log', 'reporter "terminal:x.log": terminal writes to the terminal; redirect the output to keep it'],
  ])('%s', async (spec, message) => {
    await expect(create(spec)).rejects.toMatchObject({ name: 'UsageError', code: 'reporter', message })
  })

  test('two documents on stdout', async () => {
    await expect(create('json', 'terminal', 'junit')).rejects.toThrow('reporters json and junit both want stdout')
  })

  test('a folder, and a file where a folder has to be', async () => {
    await writeFile(join(folder, 'file'), '')
    await expect(create(`junit:${folder}`)).rejects.toThrow(/cannot write to ".*": it is a folder; name a file/)
    await expect(create(`junit:${folder}/file/x.xml`)).rejects.toMatchObject({ name: 'UsageError' })
  })
})
