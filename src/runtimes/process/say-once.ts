type Notice = (text: string) => void

const told = new WeakMap<Notice, Set<string>>()

/** Reports a text only once, even if many workers produce it. */
export function sayOnce(notice: Notice, text: string): void {
  const texts = told.get(notice) ?? new Set()
  told.set(notice, texts)
  if (texts.has(text)) return
  texts.add(text)
  notice(text)
}
