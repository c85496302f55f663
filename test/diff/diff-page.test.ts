import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { DType } from '../../src/domain/dtype.ts'
import type { TensorSource } from '../../src/domain/tensor.ts'
import { openNpy, writeNpy } from '../../src/files/formats/npy.ts'
import type { TensorPair } from '../../src/files/slices/tensor-pairs.ts'
import { systemBrowser } from '../../src/runtimes/chromium/find-browser.ts'
import { type DiffServer, serveDiff } from '../../src/server/diff-server.ts'
import { encodeBigInts, encodeNumbers } from '../../src/tensors/encode.ts'
import { memorySource } from '../../src/tensors/memory-source.ts'
import { temporaryFolder } from '../support/assay.ts'
import { describeWithBrowser } from '../support/browser.ts'

/** As long as a test may take, nearly. */
const POLLING = { timeout: 170_000 }
const SHAPE = [2, 3, 20, 30]
const COUNT = 3600
/** [1, 2, 13, 7] */
const PLANTED = ((1 * 3 + 2) * 20 + 13) * 30 + 7
const HOSTILE = '<img src=x onerror="document.title=\'pwned\'">\u202e</script>'

function source(shape: readonly number[], values: readonly number[], dtype: DType = 'float32'): TensorSource {
  return memorySource('x', { dtype, shape, bytes: encodeNumbers(dtype, values) })
}

function wide(values: readonly bigint[]): TensorSource {
  return memorySource('x', { dtype: 'int64', shape: [2, 2], bytes: encodeBigInts('int64', values) })
}

/** One element far off, and in its slice eight a little. */
async function plantedPair(): Promise<TensorPair> {
  const reference = Array.from({ length: COUNT }, (_, i) => Math.sin(i))
  const target = reference.map((value, i) => {
    if (i === PLANTED) return value + 0.5
    return i > PLANTED && i <= PLANTED + 8 ? value + 0.01 : value
  })
  const folder = temporaryFolder('diff page')
  const [a, b] = [`${folder}/a.npy`, `${folder}/b.npy`]
  await writeNpy(a, source(SHAPE, reference))
  await writeNpy(b, source(SHAPE, target))
  return { name: 'planted', reference: await openNpy(a), target: await openNpy(b) }
}

const VALUES = [1, 2, 3, 4, 5, 6]
const LARGE = [2600, 2600]
const OTHERS: readonly TensorPair[] = [
  { name: HOSTILE, reference: source([2, 3], VALUES), target: source([2, 3], VALUES) },
  { name: 'ids', reference: wide([1n, 2n ** 53n, 3n, 4n]), target: wide([1n, 2n ** 53n + 1n, 3n, 4n]) },
  { name: 'shapes', reference: source([2, 3], VALUES), target: source([3, 2], VALUES) },
  { name: 'lost', reference: source([6], VALUES), target: null },
  { name: 'number', reference: source([], [1.25]), target: source([], [1.5]) },
  { name: 'nothing', reference: source([0, 2], []), target: source([0, 2], []) },
  {
    name: 'row',
    reference: source([1, 100], Array(100).fill(1)),
    target: source([1, 100], Array(100).fill(1).with(70, Number.NaN)),
  },
]

/** One element of millions, which has to survive being drawn in few pixels. */
function largePair(): TensorPair {
  const values = new Array<number>(LARGE[0]! * LARGE[1]!).fill(1)
  const reference = source(LARGE, values)
  values[1301 * LARGE[1]! + 777] = 1.5
  return { name: 'large', reference, target: source(LARGE, values) }
}

/** A side whose every cell stands for two rows and shows the odd one. */
function tallSide(): TensorPair {
  const values = Array.from({ length: LARGE[0]! * 4 }, (_, i) => Math.floor(i / 4) % 2)
  return { name: 'tall', reference: null, target: source([LARGE[0]!, 4], values) }
}

describeWithBrowser('the page of a difference', () => {
  let browser: Browser
  let context: BrowserContext
  let server: DiffServer
  const heard: string[] = []
  const foreign: string[] = []

  beforeAll(async () => {
    server = await serveDiff([await plantedPair(), ...OTHERS, largePair(), tallSide()], { title: 'a.npy ↔ b.npy' })
    const executablePath = systemBrowser(process.env.PATH ?? '')
    if (!executablePath) throw new Error('ASSAY_TEST_BROWSER=required, but there is no Chromium or Chrome')
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
    context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
    context.on('console', (message) => heard.push(message.text()))
    context.on('weberror', (error) => heard.push(String(error.error())))
    context.on('request', (request) => {
      if (new URL(request.url()).origin !== new URL(server.url).origin) foreign.push(request.url())
    })
    const page = await context.newPage()
    await page.goto(server.url)
    await page.close()
  })
  afterEach(() => Promise.all(context.pages().map((page) => page.close())))
  afterAll(async () => {
    await browser?.close()
    await server?.close()
  })

  /** A page of its own; the context has the cookie. */
  async function open(hash: string): Promise<Page> {
    const page = await context.newPage()
    await page.goto(new URL(`/${hash}`, server.url).href)
    await page.waitForSelector('h1')
    return page
  }

  const text = async (page: Page, selector: string) => (await page.textContent(selector))!.replace(/\s+/g, ' ')
  const shows = (page: Page, selector: string, part: string) =>
    expect.poll(() => text(page, selector), POLLING).toContain(part)

  /** Colours of a canvas, and at how many pixels each is. */
  async function colours(page: Page, id: string): Promise<Map<string, number>> {
    const script = `(() => { const { width, height } = document.getElementById('${id}'); const found = new Map()
      const copy = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true })
      copy.drawImage(document.getElementById('${id}'), 0, 0)
      const data = new Uint32Array(copy.getImageData(0, 0, width, height).data.buffer)
      for (const pixel of data) found.set(pixel, (found.get(pixel) ?? 0) + 1)
      return [...found].map(([pixel, count]) => [(pixel >>> 0).toString(16), count]) })()`
    return new Map((await page.evaluate(script)) as [string, number][])
  }

  test('opens where the difference is', async () => {
    const page = await open('')
    await expect.poll(() => page.url(), POLLING).toContain('index=1,2,13,7')
    expect(await text(page, '#verdict')).toMatch(/✗ fail\s?9 of 3600 values are over the limit/)
    expect(new URL(page.url()).search).toBe('')
  })

  test('the worst place button shows index, values, error and what was allowed', async () => {
    const page = await open('#pair=0&index=0,0,0,0')
    await page.waitForSelector('#verdict')
    expect(await text(page, '#readout')).toContain('[0, 0, 0, 0]')
    expect(await text(page, '#count-over')).toBe('×over00 %')
    await page.click('#worst-place')
    await shows(page, '#count-over', '×over9')
    expect(await text(page, '#readout')).toBe(
      'index[1, 2, 13, 7]reference-0.8065788target-0.30657881error0.5allowed9.066e-4over, 552 times what is allowed',
    )
    expect(await page.inputValue('#place-0')).toBe('1')
    expect(await page.inputValue('#place-1')).toBe('2')
    expect(await text(page, '#neighbours td.cursor')).toContain('×')
  })

  test('another tolerance recolours at once, and judges anew', async () => {
    const page = await open('#pair=0&index=1,2,13,7')
    await page.waitForSelector('#verdict')
    const before = await colours(page, 'difference')
    await page.fill('#rtol', '0')
    await page.fill('#atol', '0.1')
    expect(await text(page, '#count-within')).toMatch(/^·within8/)
    expect(await text(page, '#count-over')).toMatch(/^×over1/)
    expect(await colours(page, 'difference')).not.toEqual(before)
    await shows(page, '#verdict', '1 of 3600 values')
    await page.fill('#atol', '1')
    expect(await text(page, '#count-over')).toBe('×over00 %')
    await shows(page, '#verdict', '✓ pass')
    expect(page.url()).toContain('rtol=0&atol=1')
    await page.click('#default-limits')
    expect(await text(page, '#count-over')).toMatch(/^×over9/)
  })

  test('a tolerance that judges nothing is refused where it is typed', async () => {
    const page = await open('#pair=0&index=1,2,13,7')
    await page.waitForSelector('#readout')
    await page.fill('#rtol', '1')
    expect(await text(page, '.limit .problem')).toBe('with 1 or more everything would pass')
    await page.fill('#atol', 'abc')
    expect(await page.getAttribute('#atol', 'aria-invalid')).toBe('true')
    expect(await text(page, '#count-over')).toMatch(/^×over9/)
  })

  test('keys move the cursor and the slice, and the link keeps them', async () => {
    const page = await open('#pair=0&index=1,2,13,7')
    await page.waitForSelector('#readout')
    for (const key of ['ArrowRight', 'ArrowDown', '[', 'Shift+ArrowRight']) await page.keyboard.press(key)
    await expect.poll(() => page.url(), POLLING).toContain('index=1,1,14,18')
    await shows(page, '#readout', '[1, 1, 14, 18]')
    await page.keyboard.press('w')
    await expect.poll(() => page.url(), POLLING).toContain('index=1,2,13,7')
  })

  test('hovering reads the element under the pointer, in all three pictures', async () => {
    const page = await open('#pair=0&index=1,2,0,0')
    await page.waitForSelector('#difference')
    for (const id of ['reference', 'target', 'difference']) {
      const box = (await (await page.$(`#${id}`))!.boundingBox())!
      await page.mouse.move(box.x + (box.width * 7.5) / 30, box.y + (box.height * 13.5) / 20)
      await shows(page, '#readout', '[1, 2, 13, 7]')
      await page.mouse.move(box.x + box.width / 2, box.y - 60)
      await shows(page, '#readout', '[1, 2, 0, 0]')
    }
  })

  test('other dimensions can be rows and columns', async () => {
    const page = await open('#pair=0&axes=3,0&index=1,2,13,7')
    await page.waitForSelector('#difference')
    expect(await text(page, '#readout')).toContain('[1, 2, 13, 7]')
    expect(await text(page, '#count-over')).toMatch(/^×over9/)
    expect(await text(page, '#neighbours thead')).toBe('01')
  })

  test('one element of millions is seen, counted and named', async () => {
    const page = await open(`#pair=${OTHERS.length + 1}&index=0,0`)
    await page.waitForSelector('#difference')
    expect(await text(page, '#cell-note')).toBe('each cell is the worst of 2 × 2')
    expect(await text(page, '#count-over')).toMatch(/^×over1/)
    const [common, rare, ...none] = [...(await colours(page, 'difference')).values()].sort((x, y) => y - x)
    expect([common! > 10_000, rare! >= 1 && rare! < 10, none]).toEqual([true, true, []])
    await page.waitForSelector('#verdict')
    await page.click('#worst-place')
    await shows(page, '#readout', '[1301, 777]')
    await expect.poll(() => text(page, '#cell-note'), POLLING).toBe('')
    expect(await text(page, '#readout')).toContain('reference1target1.5error0.5')
  })

  test('64-bit integers are exact', async () => {
    const page = await open('#pair=2&index=0,1')
    await page.waitForSelector('#readout')
    expect(await text(page, '#readout')).toContain('reference9007199254740992target9007199254740993error1allowed0over')
    expect(await text(page, '#count-over')).toMatch(/^×over1/)
    expect(await text(page, '#neighbours')).toContain('9007199254740993')
  })

  test('sides that cannot be laid over one another say why', async () => {
    const shapes = await open('#pair=3')
    expect(await text(shapes, '#no-difference')).toBe(
      'The reference is (2, 3), the target (3, 2): as many elements in another shape.',
    )
    await shapes.waitForSelector('canvas#target')
    const lost = await open('#pair=4')
    expect(await text(lost, '#no-difference')).toBe('There is no target to compare with.')
    await lost.waitForSelector('canvas#reference')
    expect(await lost.$('canvas#target')).toBeNull()
  })

  test('a click on a side picks the element that its cell shows', async () => {
    const page = await open(`#pair=${OTHERS.length + 2}`)
    const box = (await (await page.waitForSelector('canvas#target')).boundingBox())!
    for (const part of [0.3, 0.31, 0.32, 0.33, 0.34]) {
      await page.mouse.click(box.x + box.width / 2, box.y + box.height * part)
      for (let i = 0; i < 3; i++) await page.mouse.wheel(0, -100)
      await page.mouse.move(box.x + box.width / 2, box.y - 30)
      await expect.poll(() => text(page, '#readout'), POLLING).not.toContain('the worst of')
      expect(await text(page, '#readout')).toMatch(/^index\[\d*[13579], 2\]target1$/)
      await page.mouse.dblclick(box.x + box.width / 2, box.y + box.height / 2)
      await shows(page, '#readout', 'the worst of 2 × 1')
    }
  })

  test('a number, nothing and a NaN in a wrapped row', async () => {
    const number = await open('#pair=5')
    await number.waitForSelector('#readout')
    expect(await text(number, '#readout')).toContain('index[]reference1.25target1.5error0.25')
    expect(await number.$('canvas')).toBeNull()
    const nothing = await open('#pair=6')
    expect(await text(nothing, 'main')).toContain('there are no elements')
    const row = await open('#pair=7')
    await shows(row, '#readout', '[0, 70]')
    expect(await text(row, '#readout')).toContain('targetNaNerrorNaN')
    expect(await text(row, '#count-non-finite')).toMatch(/^!non-finite1/)
  })

  test('the list is sorted by how bad it is, and filtered', async () => {
    const page = await open('')
    await shows(page, '.tensors p', 'worst first')
    const names = await page.$$eval('.tensors .name', (found) => found.map(({ textContent }) => textContent))
    expect(names.slice(0, 2)).toEqual(['shapes', 'lost'])
    expect(names.at(-1)).toBe('nothing')
    await page.keyboard.press('/')
    await page.keyboard.type('ids')
    expect(await page.$$eval('.tensors .name', (found) => found.length)).toBe(1)
    await page.click('.tensors button')
    await shows(page, 'h1', 'ids')
  })

  test('a hostile name is text', async () => {
    const page = await open('#pair=1')
    await page.waitForSelector('#readout')
    expect(await text(page, 'h1 .name')).toBe(HOSTILE.replace('\u202e', '\\u202e'))
    expect(await page.$('img')).toBeNull()
    expect(await page.title()).not.toBe('pwned')
    expect(await page.title()).toContain('<img src=x')
  })

  test('nothing was said on the console and nobody else was asked', () => {
    expect([heard, foreign]).toEqual([[], []])
  })

  test('a page that was opened elsewhere cannot read anything', async () => {
    const stranger = await browser.newContext()
    const page = await stranger.newPage()
    const answer = await page.goto(new URL('/api/pairs', server.url).href)
    expect([answer?.status(), await answer?.text()]).toEqual([401, expect.stringContaining('it works once')])
    await stranger.close()
  })
})
