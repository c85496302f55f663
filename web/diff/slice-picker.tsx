import type { WorstPlace } from '../../src/domain/result.ts'
import type { ViewState } from './view-state.ts'
import { atIndex, withAxis } from './view-state.ts'

export interface SlicePickerProps {
  readonly state: ViewState
  readonly shape: readonly number[]
  readonly isComplex: boolean
  readonly worst?: readonly WorstPlace[]
  /** The dimension that keys step through. */
  readonly stepped?: number | null
  change(state: ViewState): void
  focus?(axis: number): void
}

/** For each dimension: whether it is the picture's rows or columns, or which of its places is shown. */
export function SlicePicker(props: SlicePickerProps) {
  const { shape } = props
  const long = shape.flatMap((size, axis) => (size > 1 ? [axis] : []))
  if (long.length < 2) return null
  return (
    <div class="picker">
      {long.map((axis) => (
        <Dimension key={axis} axis={axis} {...props} />
      ))}
    </div>
  )
}

function Dimension(props: SlicePickerProps & { readonly axis: number }) {
  const { axis, state, shape, change } = props
  const role = state.axes.indexOf(axis)
  const isPart = props.isComplex && axis === shape.length - 1
  return (
    <fieldset class={props.stepped === axis ? 'dimension stepped' : 'dimension'}>
      <legend>
        {isPart ? 'real, imaginary' : `dim ${axis}`} <span class="quiet">{shape[axis]}</span>
      </legend>
      <span class="roles">
        <Role name="rows" isOn={role === 0} choose={() => change(withAxis(state, 0, axis))} axis={axis} />
        <Role name="cols" isOn={role === 1} choose={() => change(withAxis(state, 1, axis))} axis={axis} />
      </span>
      {role < 0 && <Place {...props} />}
    </fieldset>
  )
}

interface RoleProps {
  readonly name: string
  readonly axis: number
  readonly isOn: boolean
  choose(): void
}

function Role({ name, axis, isOn, choose }: RoleProps) {
  return (
    <button
      type="button"
      class={isOn ? 'on' : ''}
      aria-pressed={isOn}
      title={`dimension ${axis} as ${name}`}
      onClick={choose}
    >
      {name}
    </button>
  )
}

function Place({ axis, state, shape, worst = [], change, focus }: SlicePickerProps & { readonly axis: number }) {
  const most = shape[axis]! - 1
  const set = (text: string) => {
    const place = Number(text)
    if (text !== '' && Number.isInteger(place) && place >= 0 && place <= most) {
      change(atIndex(state, state.index.with(axis, place)))
    }
  }
  const common = { min: 0, max: most, step: 1, value: state.index[axis]!, onFocus: () => focus?.(axis) }
  return (
    <span class="place">
      <span class="slider">
        <input
          type="range"
          aria-label={`place in dimension ${axis}`}
          onInput={(event) => set(event.currentTarget.value)}
          {...common}
        />
        <Marks places={worst.flatMap(({ index }) => (index[axis] === undefined ? [] : [index[axis]]))} most={most} />
      </span>
      <input
        type="number"
        id={`place-${axis}`}
        aria-label={`place in dimension ${axis}`}
        onInput={(event) => set(event.currentTarget.value)}
        {...common}
      />
    </span>
  )
}

/** Where the worst places are. */
function Marks({ places, most }: { readonly places: readonly number[]; readonly most: number }) {
  return (
    <span class="marks" title="where the worst places are" aria-hidden="true">
      {[...new Set(places)].map((place) => (
        <i key={place} style={{ left: `${(100 * place) / most}%` }} />
      ))}
    </span>
  )
}
