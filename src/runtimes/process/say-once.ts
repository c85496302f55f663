import { remember } from '../../domain/remember.ts'

type Notice = (text: string) => void

const told = new WeakMap<Notice, Set<string>>()

/** Reports a text only once, even if many workers produce it. */
export function sayOnce(notice: Notice, text: string): void {
  const texts = remember(told, notice, () => new Set())
  if (texts.has(text)) return
  texts.add(text)
  notice(text)
}
