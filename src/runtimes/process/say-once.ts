type Notice = (text: string) => void

const told = new WeakMap<Notice, Set<string>>()

/** Says something to whoever listens, once, however many workers come across it. */
export function sayOnce(notice: Notice, text: string): void {
  const texts = told.get(notice) ?? new Set()
  told.set(notice, texts)
  if (texts.has(text)) return
  texts.add(text)
  notice(text)
}
