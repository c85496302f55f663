import { useEffect, useRef } from 'preact/hooks'
import { classifySeverity, EQUAL } from '../../../src/compare/slice/classify.ts'
import type { CellWindow } from '../../../src/compare/slice/grid.ts'
import type { Cell } from '../view-state.ts'
import type { Cells } from './cells.ts'
import { MARKS } from './marks.ts'
import { paint, type Theme } from './paint.ts'

/** Cells from this size on get signs besides colours. */
const SIGN_PIXELS = 11

/** Pixels of the screen and of the page. */
export interface PixelSize {
  readonly width: number
  readonly height: number
  readonly pixelsWide: number
  readonly pixelsHigh: number
}

export interface PictureProps {
  readonly id: string
  readonly cells: Cells
  /** The cell of each pixel. */
  readonly picked: Int32Array
  /** Given where cells get signs. */
  readonly severities?: Float64Array
  readonly view: CellWindow
  readonly size: PixelSize
  readonly theme: Theme
  readonly colours: (position: number) => number
  readonly cursor: Cell | null
}

/** One side, or the difference, as an image with a cross-hair. */
export function Picture(props: PictureProps) {
  const image = useRef<HTMLCanvasElement>(null)
  const cross = useRef<HTMLCanvasElement>(null)
  const { id, cells, picked, severities, view, size, theme, colours, cursor } = props
  const { pixelsWide, pixelsHigh } = size
  useEffect(() => {
    const context = image.current!.getContext('2d')!
    const data = context.createImageData(pixelsWide, pixelsHigh)
    paint(data, picked, cells, theme.nothing, colours)
    context.putImageData(data, 0, 0)
    if (severities) drawSigns(context, cells, severities, view, size)
  }, [picked, colours, severities])
  useEffect(() => {
    const context = cross.current!.getContext('2d')!
    context.clearRect(0, 0, pixelsWide, pixelsHigh)
    if (cursor) drawCross(context, cursor, view, size)
  }, [cursor?.row, cursor?.col, picked])
  const style = { width: `${size.width}px`, height: `${size.height}px` }
  return (
    <div class="canvas" style={style}>
      <canvas ref={image} id={id} width={pixelsWide} height={pixelsHigh} style={style} role="img" aria-label={id} />
      <canvas ref={cross} width={pixelsWide} height={pixelsHigh} style={style} />
    </div>
  )
}

function drawSigns(
  context: CanvasRenderingContext2D,
  cells: Cells,
  severities: Float64Array,
  view: CellWindow,
  { pixelsWide: width, pixelsHigh: height }: PixelSize,
): void {
  const [w, h] = [(width / view.cols) * cells.colStep, (height / view.rows) * cells.rowStep]
  if (Math.min(w, h) < SIGN_PIXELS * (globalThis.devicePixelRatio || 1)) return
  context.font = `bold ${Math.round(Math.min(w, h, 28) * 0.8)}px system-ui, sans-serif`
  context.textAlign = 'center'
  context.textBaseline = 'middle'
  for (let cell = 0; cell < cells.positions.length; cell++) {
    const position = cells.positions[cell]!
    const found = position < 0 ? EQUAL : classifySeverity(severities[position]!)
    if (found === EQUAL) continue
    const x = (((cell % cells.cols) * cells.colStep + cells.window.col - view.col) * width) / view.cols + w / 2
    const y =
      ((Math.floor(cell / cells.cols) * cells.rowStep + cells.window.row - view.row) * height) / view.rows + h / 2
    const { sign } = MARKS[found]!
    context.strokeStyle = '#ffffff'
    context.lineWidth = 2
    context.strokeText(sign, x, y)
    context.fillStyle = '#000000'
    context.fillText(sign, x, y)
  }
}

function drawCross(context: CanvasRenderingContext2D, cursor: Cell, view: CellWindow, size: PixelSize): void {
  const { pixelsWide: width, pixelsHigh: height } = size
  const [w, h] = [width / view.cols, height / view.rows]
  const [x, y] = [(cursor.col - view.col) * w, (cursor.row - view.row) * h]
  const [middleX, middleY] = [Math.round(x + w / 2), Math.round(y + h / 2)]
  const isLarge = w >= 6 && h >= 6
  const gap = Math.max(6, isLarge ? Math.max(w, h) / 2 + 2 : 0)
  // Dark on light on dark: seen on every ground.
  for (const [colour, lineWidth] of [
    ['#ffffffb0', 3],
    ['#000000', 1],
  ] as const) {
    context.strokeStyle = colour
    context.lineWidth = lineWidth
    context.beginPath()
    line(context, 0, middleY, middleX - gap, middleY)
    line(context, middleX + gap, middleY, width, middleY)
    line(context, middleX, 0, middleX, middleY - gap)
    line(context, middleX, middleY + gap, middleX, height)
    if (isLarge) context.rect(Math.round(x), Math.round(y), Math.round(w), Math.round(h))
    context.stroke()
  }
}

function line(context: CanvasRenderingContext2D, x: number, y: number, toX: number, toY: number): void {
  context.moveTo(x + 0.5, y + 0.5)
  context.lineTo(toX + 0.5, toY + 0.5)
}
