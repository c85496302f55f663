import type { ShownPair, ShownTensor } from '../../src/compare/slice/contract.ts'
import { type CellWindow, type Grid, layOutWrapped, wrapWidth } from '../../src/compare/slice/grid.ts'
import type { SliceIndex } from '../../src/compare/slice/slice-index.ts'

export interface Limits {
  readonly rtol: number
  readonly atol: number
}

/** All that a link keeps. */
export interface ViewState {
  readonly pair: number
  /** Dimensions of the picture: rows and columns, or the one that is wrapped, or none for a number. */
  readonly axes: readonly number[]
  /** The element under the cursor, which also says which slice is shown. */
  readonly index: readonly number[]
  /** False until somebody chose the element, or a link did; then the worst place may be shown instead. */
  readonly isPlaced: boolean
  /** Cells in sight; null: all. */
  readonly view: CellWindow | null
  /** null: by the default rule. */
  readonly tolerance: Limits | null
}

export interface Cell {
  readonly row: number
  readonly col: number
}

/** The side whose dimensions are offered. */
export function shownTensor({ reference, target }: ShownPair): ShownTensor {
  return (reference ?? target)!
}

/** The last two dimensions that have more than one place; parts of complex numbers are none. */
function defaultAxes({ shape, isComplex }: ShownTensor): number[] {
  const long = shape.flatMap((size, axis) => (size === 1 || (isComplex && axis === shape.length - 1) ? [] : [axis]))
  return long.slice(-2)
}

export function defaultState(pair: number, tensor: ShownTensor, tolerance: Limits | null = null): ViewState {
  const index = tensor.shape.map(() => 0)
  return { pair, axes: defaultAxes(tensor), index, isPlaced: false, view: null, tolerance }
}

export function atIndex(state: ViewState, index: readonly number[]): ViewState {
  return { ...state, index, isPlaced: true }
}

/** Places of the slice, null for those of the picture. */
export function sliceIndex({ index, axes }: Pick<ViewState, 'index' | 'axes'>): SliceIndex {
  return index.map((place, axis) => (axes.includes(axis) ? null : place))
}

/** Whether rows of the picture are a later dimension than its columns. */
export function isTurned({ axes: [row, col] }: Pick<ViewState, 'axes'>): boolean {
  return row !== undefined && col !== undefined && row > col
}

/** Rows and columns of the picture. */
export function pictureGrid(shape: readonly number[], state: Pick<ViewState, 'index' | 'axes'>): Grid {
  const grid = layOutWrapped(shape, sliceIndex(state))
  if (!isTurned(state)) return grid
  const { rowAxis, colAxis, rows, cols, rowStride, colStride } = grid
  const turned = {
    rowAxis: colAxis,
    colAxis: rowAxis,
    rows: cols,
    cols: rows,
    rowStride: colStride,
    colStride: rowStride,
  }
  return { ...grid, ...turned }
}

export function cursorCell({ axes: [first, second], index }: ViewState, shape: readonly number[]): Cell {
  if (first === undefined) return { row: 0, col: 0 }
  if (second !== undefined) return { row: index[first]!, col: index[second]! }
  const width = wrapWidth(shape[first]!)
  return { row: Math.floor(index[first]! / width), col: index[first]! % width }
}

/** The index of a cell of the picture; null where a wrapped dimension has ended. */
export function indexAt(state: ViewState, shape: readonly number[], { row, col }: Cell): number[] | null {
  const [first, second] = state.axes
  if (first === undefined) return [...state.index]
  if (second !== undefined) return state.index.with(first, row).with(second, col)
  const place = row * wrapWidth(shape[first]!) + col
  return place < shape[first]! ? state.index.with(first, place) : null
}

/** Dimensions beside the picture that can be stepped through. */
export function slicedAxes({ axes }: ViewState, shape: readonly number[]): number[] {
  return shape.flatMap((size, axis) => (size > 1 && !axes.includes(axis) ? [axis] : []))
}

/** Shows a dimension as rows or columns; the other one trades places if it was there. */
export function withAxis(state: ViewState, role: 0 | 1, axis: number): ViewState {
  const [rows, cols] = state.axes
  if (rows === undefined || cols === undefined) return state
  const old = state.axes[role]!
  const other = state.axes[1 - role]!
  const kept = other === axis ? old : other
  return { ...state, axes: role === 0 ? [axis, kept] : [kept, axis], view: null }
}

export function formatHash({ pair, axes, index, isPlaced, view, tolerance }: ViewState): string {
  const parts = [
    `pair=${pair}`,
    ...(axes.length > 0 ? [`axes=${axes.join(',')}`] : []),
    ...(isPlaced && index.length > 0 ? [`index=${index.join(',')}`] : []),
    ...(view ? [`view=${[view.row, view.col, view.rows, view.cols].join(',')}`] : []),
    ...(tolerance ? [`rtol=${tolerance.rtol}`, `atol=${tolerance.atol}`] : []),
  ]
  return `#${parts.join('&')}`
}

/** What of a link fits these tensors; the rest is as by default. */
export function parseHash(hash: string, pairs: readonly ShownPair[]): ViewState {
  const query = new URLSearchParams(hash.replace(/^#/, ''))
  const pair = numbersIn(query, 'pair')?.find((place) => place < pairs.length) ?? 0
  const tensor = shownTensor(pairs[pair]!)
  const { shape } = tensor
  const state = defaultState(pair, tensor, toleranceIn(query))
  const axes = numbersIn(query, 'axes')
  const index = numbersIn(query, 'index')
  const fitted = {
    ...state,
    axes: axes && fits(axes, state.axes, shape) ? axes : state.axes,
  }
  const isPlaced = index?.length === shape.length && index.every((place, i) => place < shape[i]!)
  const placed = isPlaced ? atIndex(fitted, index) : fitted
  return { ...placed, view: viewIn(query, fitted, shape) }
}

function fits(axes: readonly number[], usual: readonly number[], shape: readonly number[]): boolean {
  return axes.length === usual.length && axes.every((axis) => axis < shape.length) && axes[0] !== axes[1]
}

function viewIn(query: URLSearchParams, state: ViewState, shape: readonly number[]): CellWindow | null {
  const [row, col, rows, cols] = numbersIn(query, 'view') ?? []
  if (row === undefined || col === undefined || !rows || !cols || shape.includes(0)) return null
  const grid = pictureGrid(shape, state)
  return row + rows <= grid.rows && col + cols <= grid.cols ? { row, col, rows, cols } : null
}

function toleranceIn(query: URLSearchParams): Limits | null {
  const [rtol, atol] = [limitFrom(query.get('rtol') ?? ''), limitFrom(query.get('atol') ?? '')]
  return rtol === null || atol === null || rtol >= 1 ? null : { rtol, atol }
}

/** A limit that somebody typed; null where it is none. */
export function limitFrom(text: string): number | null {
  const value = Number(text)
  return text.trim() !== '' && Number.isFinite(value) && value >= 0 ? value : null
}

function numbersIn(query: URLSearchParams, name: string): number[] | null {
  const text = query.get(name) ?? ''
  return /^\d{1,15}(,\d{1,15})*$/.test(text) ? text.split(',').map(Number) : null
}
