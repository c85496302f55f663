import { useEffect, useRef } from 'preact/hooks'

type Keys = Readonly<Record<string, (event: KeyboardEvent) => void>>

/** Calls what a key stands for, unless somebody is typing or moving a slider with it. */
export function useKeys(keys: Keys): void {
  const latest = useRef(keys)
  latest.current = keys
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const act = latest.current[event.key]
      if (!act || event.ctrlKey || event.metaKey || event.altKey || isForInput(event)) return
      event.preventDefault()
      act(event)
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [])
}

function isForInput({ target, key }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLInputElement)) return false
  return target.type !== 'range' || key.startsWith('Arrow')
}
