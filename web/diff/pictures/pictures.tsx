import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { CellWindow } from '../../../src/compare/slice/grid.ts'
import type { Cell } from '../view-state.ts'
import type { PixelSize } from './picture.tsx'
import { type Size, within, zoom } from './viewport.ts'

const ZOOM_STEP = 1.2
/** A press that moves less is a click. */
const CLICK_PIXELS = 4
const LEAST_HEIGHT = 96
const MOST_HEIGHT = 420

export interface Gestures {
  hover(cell: Cell | null): void
  point(cell: Cell): void
  look(view: CellWindow | null): void
}

/** Pixels of a picture: cells are square unless that were very flat or very narrow. */
export function pixelSize(room: number, { rows, cols }: Size): PixelSize {
  const most = Math.max(LEAST_HEIGHT, Math.min(MOST_HEIGHT, globalThis.innerHeight * 0.46))
  const fitting = Math.max(LEAST_HEIGHT, Math.min(most, (room * rows) / cols))
  const width = Math.max(1, Math.floor(Math.min(room, Math.max(room / 2, (fitting * cols) / rows))))
  const height = Math.floor(fitting)
  const ratio = globalThis.devicePixelRatio || 1
  return { width, height, pixelsWide: Math.round(width * ratio), pixelsHigh: Math.round(height * ratio) }
}

/** How wide an element is, as long as it is there. */
export function useWidth() {
  const ref = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry!.contentRect.width)))
    observer.observe(ref.current!)
    return () => observer.disconnect()
  }, [])
  return { ref, width }
}

export interface CanvasFrameProps {
  readonly view: CellWindow
  readonly size: Size
  readonly gestures: Gestures
  readonly children: ComponentChildren
}

/** Wheel zooms, dragging moves, a click points, a double click shows all. */
export function CanvasFrame({ view, size, gestures, children }: CanvasFrameProps) {
  const frame = useRef<HTMLDivElement>(null)
  const pressed = useRef<{ x: number; y: number; view: CellWindow; hasMoved: boolean } | null>(null)
  const latest = useRef({ view, size, gestures })
  latest.current = { view, size, gestures }
  useEffect(() => {
    const wheel = (event: WheelEvent) => {
      event.preventDefault()
      const now = latest.current
      const factor = event.deltaY < 0 ? 1 / ZOOM_STEP : ZOOM_STEP
      now.gestures.look(zoom(now.view, now.size, factor, partOf(event, frame.current!)))
    }
    const element = frame.current!
    element.addEventListener('wheel', wheel, { passive: false })
    return () => element.removeEventListener('wheel', wheel)
  }, [])
  const move = (event: PointerEvent) => {
    const press = pressed.current
    const part = partOf(event, frame.current!)
    if (!press) return gestures.hover(cellIn(view, part))
    if (Math.hypot(event.clientX - press.x, event.clientY - press.y) > CLICK_PIXELS) press.hasMoved = true
    if (!press.hasMoved || (view.rows === size.rows && view.cols === size.cols)) return
    const { width, height } = frame.current!.getBoundingClientRect()
    const row = press.view.row - ((event.clientY - press.y) / height) * view.rows
    const col = press.view.col - ((event.clientX - press.x) / width) * view.cols
    gestures.look(within({ ...view, row, col }, size))
  }
  const press = (event: PointerEvent) => {
    if (event.button !== 0) return
    frame.current!.setPointerCapture(event.pointerId)
    pressed.current = { x: event.clientX, y: event.clientY, view, hasMoved: false }
  }
  const release = (event: PointerEvent) => {
    if (pressed.current && !pressed.current.hasMoved) gestures.point(cellIn(view, partOf(event, frame.current!)))
    pressed.current = null
  }
  return (
    <div
      ref={frame}
      class="frame"
      role="application"
      onPointerMove={move}
      onPointerDown={press}
      onPointerUp={release}
      onPointerLeave={() => gestures.hover(null)}
      onDblClick={() => gestures.look(null)}
    >
      {children}
    </div>
  )
}

function partOf(event: MouseEvent, element: HTMLElement): { x: number; y: number } {
  const { left, top, width, height } = element.getBoundingClientRect()
  const part = (value: number) => Math.max(0, Math.min(1 - 1e-9, value))
  return { x: part((event.clientX - left) / width), y: part((event.clientY - top) / height) }
}

function cellIn({ row, col, rows, cols }: CellWindow, { x, y }: { x: number; y: number }): Cell {
  return { row: Math.floor(row + y * rows), col: Math.floor(col + x * cols) }
}
