import { describe, expect, test } from 'vitest'
import type { RunEvent } from '../domain/run.ts'
import { JunitReporter } from './junit.ts'
import {
  allVerdicts,
  expectedResult,
  HOSTILE,
  hostileResults,
  inconclusiveResult,
  replayEvents,
  sampleHeader,
  sampleResult,
} from './testing/sample-run.ts'

async function document(events: readonly RunEvent[]): Promise<string> {
  const chunks: string[] = []
  const reporter = new JunitReporter(async (made) => {
    chunks.push(...made)
  })
  for (const event of events) await reporter.onEvent(event)
  return chunks.join('')
}

const XML_NAME = '[a-z-]+'
const TAG = new RegExp(`^<(/?)(${XML_NAME})((?: ${XML_NAME}="[^<"]*")*)(/?)>`)
const ENTITY = /&(?!(?:amp|lt|gt|quot|apos);)/

/** Element names in order, or an error where the text is not well-formed XML 1.0. */
function elementsOf(xml: string): string[] {
  const found: string[] = []
  const open: string[] = []
  let rest = xml.replace(/^<\?xml [^>]*\?>/, '')
  if (/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/u.test(xml)) throw new Error('illegal character')
  while (rest !== '') {
    const text = /^[^<]*/.exec(rest)![0]
    if (ENTITY.test(text) || text.includes(']]>')) throw new Error(`bad text ${text.slice(0, 80)}`)
    rest = rest.slice(text.length)
    if (rest === '') break
    const tag = TAG.exec(rest)
    if (!tag || ENTITY.test(tag[3]!)) throw new Error(`bad tag ${rest.slice(0, 80)}`)
    rest = rest.slice(tag[0].length)
    if (tag[1]) {
      if (open.pop() !== tag[2]) throw new Error(`${tag[2]} closed out of turn`)
    } else {
      found.push(tag[2]!)
      if (!tag[4]) open.push(tag[2]!)
    }
  }
  if (open.length > 0) throw new Error(`${open.join(', ')} not closed`)
  return found
}

describe('junit', () => {
  test('every verdict as a CI server understands it', async () => {
    const xml = await document(replayEvents(allVerdicts))
    expect(elementsOf(xml).filter((name) => name === 'testcase')).toHaveLength(8)
    expect(xml).toMatchInlineSnapshot(`
      "<?xml version="1.0" encoding="UTF-8"?>
      <testsuites name="assay" tests="8" failures="2" errors="1" skipped="3" time="140.350">
        <testsuite name="onnx" tests="8" failures="2" errors="1" skipped="3" timestamp="2026-11-15T10:00:00.000Z" time="9.000">
          <properties>
            <property name="run" value="01JD3Z8Q6V4T9X2M5N7P0R1S3T"/>
            <property name="state" value="complete"/>
            <property name="node" value="v20.20.2"/>
          </properties>
          <testcase classname="silero_vad" name="full_model@ort-web:wasm" time="0.250">
            <properties>
              <property name="id" value="silero_vad/full_model@ort-web:wasm"/>
              <property name="verdict" value="pass"/>
              <property name="reference" value="ort:cpu"/>
              <property name="compared" value="1 of 1"/>
              <property name="relL2" value="2.4e-7"/>
              <property name="relL2.limit" value="0.0001"/>
              <property name="relL2.provenance" value="fp32 whole model, built-in table"/>
              <property name="relL2.count" value="1"/>
            </properties>
            <system-out>reproduce: assay test models -k &apos;silero_vad/full_model@ort-web:wasm&apos;</system-out>
          </testcase>
          <testcase classname="ppocr/det" name="full_model@ort-web:wasm" time="0.500">
            <properties>
              <property name="id" value="ppocr/det/full_model@ort-web:wasm"/>
              <property name="verdict" value="skip"/>
              <property name="reference" value="ort:cpu"/>
              <property name="compared" value="1 of 1"/>
            </properties>
            <skipped type="Skip" message="dtype float8e8m0 is not listed by the worker"/>
            <system-out>reproduce: assay test models -k &apos;ppocr/det/full_model@ort-web:wasm&apos;</system-out>
          </testcase>
          <testcase classname="ppocr/rec" name="full_model@ort-web:wasm" time="0.750">
            <properties>
              <property name="id" value="ppocr/rec/full_model@ort-web:wasm"/>
              <property name="verdict" value="xfail"/>
              <property name="reference" value="ort:cpu"/>
              <property name="compared" value="1 of 1"/>
              <property name="relL2" value="2.4e-7"/>
              <property name="relL2.limit" value="0.0001"/>
              <property name="relL2.provenance" value="fp32 whole model, built-in table"/>
              <property name="relL2.count" value="1"/>
            </properties>
            <skipped type="ExpectedFailure" message="known: onnxruntime#29651"/>
            <system-out>reproduce: assay test models -k &apos;ppocr/rec/full_model@ort-web:wasm&apos;</system-out>
          </testcase>
          <testcase classname="ppocr/cls" name="full_model@ort-web:wasm" time="1.000">
            <properties>
              <property name="id" value="ppocr/cls/full_model@ort-web:wasm"/>
              <property name="verdict" value="xpass"/>
              <property name="reference" value="ort:cpu"/>
              <property name="compared" value="1 of 1"/>
              <property name="relL2" value="2.4e-7"/>
              <property name="relL2.limit" value="0.0001"/>
              <property name="relL2.provenance" value="fp32 whole model, built-in table"/>
              <property name="relL2.count" value="1"/>
            </properties>
            <failure type="UnexpectedPass" message="expected to fail: onnxruntime#29651">X XPASS  ppocr/cls/full_model@ort-web:wasm  1.00s
        why        expected to fail: onnxruntime#29651
        compared   1 of 1
        outputs    1 passed
        ran        reference: version onnxruntime-node 1.30.0
                   target: version onnxruntime-web 1.30.0
        reproduce  assay test models -k &apos;ppocr/cls/full_model@ort-web:wasm&apos;</failure>
            <system-out>reproduce: assay test models -k &apos;ppocr/cls/full_model@ort-web:wasm&apos;</system-out>
          </testcase>
          <testcase classname="ppocr/new" name="full_model@ort-web:wasm" time="1.250">
            <properties>
              <property name="id" value="ppocr/new/full_model@ort-web:wasm"/>
              <property name="verdict" value="captured"/>
              <property name="reference" value="ort:cpu"/>
              <property name="compared" value="1 of 1"/>
              <property name="relL2" value="2.4e-7"/>
              <property name="relL2.limit" value="0.0001"/>
              <property name="relL2.provenance" value="fp32 whole model, built-in table"/>
              <property name="relL2.count" value="1"/>
            </properties>
            <system-out>reproduce: assay test models -k &apos;ppocr/new/full_model@ort-web:wasm&apos;</system-out>
          </testcase>
          <testcase classname="moonshine/encoder" name="full_model@ort-web:wasm" time="1.500">
            <properties>
              <property name="id" value="moonshine/encoder/full_model@ort-web:wasm"/>
              <property name="verdict" value="inconclusive"/>
              <property name="reference" value="ort:cpu"/>
              <property name="compared" value="1 of 1"/>
              <property name="flag" value="sensitive"/>
              <property name="relL2" value="NaN"/>
              <property name="relL2.limit" value="0.0001"/>
              <property name="relL2.provenance" value="fp32 whole model, built-in table"/>
              <property name="relL2.count" value="1"/>
            </properties>
            <skipped type="Inconclusive" message="inconclusive: over tolerance but inside what roundings do to the reference"/>
            <system-out>reproduce: assay test models -k &apos;moonshine/encoder/full_model@ort-web:wasm&apos;</system-out>
          </testcase>
          <testcase classname="silero_vad" name="full_model@chromium:webgpu" time="1.750">
            <properties>
              <property name="id" value="silero_vad/full_model@chromium:webgpu"/>
              <property name="verdict" value="fail"/>
              <property name="reference" value="ort:cpu"/>
              <property name="compared" value="2 of 2"/>
              <property name="relL2" value="0.62469"/>
              <property name="relL2.limit" value="0.0001"/>
              <property name="relL2.provenance" value="fp32 whole model, built-in table"/>
              <property name="relL2.count" value="1"/>
              <property name="cosine" value="not measured: one element has no direction"/>
              <property name="cosine.count" value="0"/>
            </properties>
            <failure type="OutputMismatch" message="output &quot;prob&quot; differs">✗ FAIL  silero_vad/full_model@chromium:webgpu  1.75s
        why        output &quot;prob&quot; differs
        compared   2 of 2
        metric     cosine not measured: one element has no direction
        output     prob  float32 (1, 1)  ✗ fail
          rule       |t − r| ≤ 1e-3·|r| + 1e-4·max|r| and relL2 ≤ 1e-4
          mismatches 1 of 1 (allowed 0)
          measured   relL2 0.6247 &gt; limit 1e-4 · maxAbs 0.5779 · maxUlp 1.153e7
          would pass rtol 0.6247 at scale 0
          worst at  reference  target   error   allowed
          [0, 0]       0.9251  0.3472  0.5779  0.001018
        outputs    others: 1 passed
        ran        reference: version onnxruntime-node 1.30.0
                   target: version onnxruntime-web 1.30.0
        files      target.safetensors  .assay/runs/01JD3Z8Q6V4T9X2M5N7P0R1S3T/artifacts/9f3c2e1a  3.4 KiB
        reproduce  assay test models -k &apos;silero_vad/full_model@chromium:webgpu&apos;</failure>
            <system-out>reproduce: assay test models -k &apos;silero_vad/full_model@chromium:webgpu&apos;</system-out>
          </testcase>
          <testcase classname="test_cast_FLOAT16_to_UINT4" name="full_model@ort:cpu,optimization=disabled" time="2.000">
            <properties>
              <property name="id" value="test_cast_FLOAT16_to_UINT4/full_model@ort:cpu,optimization=disabled"/>
              <property name="verdict" value="error"/>
              <property name="reference" value="ort:cpu"/>
              <property name="compared" value="0 of 1"/>
              <property name="flag" value="retried"/>
            </properties>
            <error type="RunError" message="run on the target: the worker died, and again when the case ran alone (SIGABRT)">! ERROR  test_cast_FLOAT16_to_UINT4/full_model@ort:cpu,optimization=disabled  2.00s
        why        run on the target: the worker died, and again when the case ran alone (SIGABRT)
        flags      retried
        compared   0 of 1
        tool       onnxruntime-node
        command    node &quot;ort worker.js&quot;
        printed
          | loading
          | terminate called after throwing an instance of &apos;Ort::Exception&apos;
          |   what():  Cast
        ran        reference: version onnxruntime-node 1.30.0
                   target: version onnxruntime-web 1.30.0
        reproduce  assay test models -k &apos;test_cast_FLOAT16_to_UINT4/full_model@ort:cpu,optimization=disabled&apos;</error>
            <system-out>reproduce: assay test models -k &apos;test_cast_FLOAT16_to_UINT4/full_model@ort:cpu,optimization=disabled&apos;</system-out>
          </testcase>
        </testsuite>
      </testsuites>
      "
    `)
  })

  test('suites are kept apart and their counts add up', async () => {
    const results = [sampleResult(), sampleResult({ suite: 'layers', scope: 'layer_1', verdict: 'fail' })]
    const xml = await document(replayEvents(results))
    expect(xml).toContain('<testsuites name="assay" tests="2" failures="1" errors="0" skipped="0" time="140.350">')
    expect(xml).toContain('<testsuite name="onnx" tests="1" failures="0" errors="0" skipped="0"')
    expect(xml).toContain('<testsuite name="layers" tests="1" failures="1" errors="0" skipped="0"')
  })

  test('inconclusive fails where the run is strict', async () => {
    const xml = await document(replayEvents([inconclusiveResult], { options: { strict: true } }))
    expect(xml).toContain('<failure type="Inconclusive" message="inconclusive: over tolerance')
    expect(xml).toContain('failures="1" errors="0" skipped="0"')
  })

  test('a time that was not measured is left out', async () => {
    const events = replayEvents([sampleResult()], { summary: null, state: 'running' }).filter(
      (event) => event.type !== 'case-end',
    )
    const xml = await document(events)
    expect(xml).not.toContain(' time=')
    expect(xml).toContain('name="incomplete" value="incomplete: the run did not end; 1 of 1 cases have a result"')
  })

  test('the well-formedness check of this file can fail', () => {
    expect(() => elementsOf('<a><b></a>')).toThrow()
    expect(() => elementsOf('<a b="<"/>')).toThrow()
    expect(() => elementsOf('<a>&nbsp;</a>')).toThrow()
    expect(() => elementsOf('<a>\u0000</a>')).toThrow()
  })

  test.each(HOSTILE.map((text) => [text.slice(0, 60), text]))('%j stays inert', async (_shown, hostile) => {
    const xml = await document(replayEvents(hostileResults(hostile)))
    const elements = elementsOf(xml)
    expect(elements.filter((name) => name === 'testcase')).toHaveLength(5)
    expect(elements.filter((name) => name === 'failure')).toHaveLength(1)
    expect(elements.filter((name) => name === 'script' || name === 'img' || name === 'b')).toEqual([])
    expect(xml).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u)
    expect(xml.length).toBeLessThan(100_000)
  })
})

describe('expected failures in junit', () => {
  test('are skipped, with what was expected and found as properties', async () => {
    const issue = 'https://example.com/7'
    const xml = await document(replayEvents([expectedResult('vad', { issue, expires: '2027-03-01' })]))
    expect(xml).toMatch(/<testsuites[^>]* tests="1" failures="0" errors="0" skipped="1"/)
    expect(xml).toContain('<skipped type="ExpectedFailure" message="prob: 1 of 1 values are over the limit"/>')
    const properties = [...xml.matchAll(/name="(expected[^"]*)" value="([^"]*)"/g)].map(([, name, value]) => [
      name,
      value,
    ])
    expect(Object.fromEntries(properties)).toEqual({
      expected: 'fail',
      'expected.outcome': 'met',
      'expected.found': 'fail',
      'expected.place': 'assay.expected.yaml:3',
      'expected.issue': issue,
      'expected.expires': '2027-03-01',
    })
  })

  test.each([
    [false, 'skipped', 'failures="0" errors="0" skipped="1"'],
    [true, 'failure', 'failures="1" errors="0" skipped="0"'],
  ])('that are stale have a test case each; strict: %s makes it a %s', async (strict, element, tally) => {
    const results = [sampleResult()]
    const summary = { ...sampleHeader(results).summary!, stale: [{ id: 'gone/*', place: 'f.yaml:9' }] }
    const xml = await document(replayEvents(results, { summary, options: { strict } }))
    expect(elementsOf(xml).filter((name) => name === 'testcase')).toHaveLength(2)
    expect(xml).toContain(`<testsuite name="expected failures" tests="1" ${tally}>`)
    expect(xml).toContain(`<testsuites name="assay" tests="2" ${tally}`)
    expect(xml).toContain(`<${element} type="StaleEntry" message="f.yaml:9: gone/* matches no case`)
  })
})
