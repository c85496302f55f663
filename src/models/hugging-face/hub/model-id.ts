/** A model on a hub: `name` or `owner/name`, at a branch, tag or commit. */
export interface ModelId {
  readonly id: string
  readonly revision: string
}

const PART = /^(?!.*(--|\.\.))[A-Za-z0-9_](?:[\w.-]{0,94}[A-Za-z0-9_])?$/
const REVISION = /^[A-Za-z0-9_][\w./-]{0,199}$/

/** Reads `owner/name@revision`; null: it cannot be one. */
export function parseModelId(text: string): ModelId | null {
  const [id = '', revision = 'main', ...more] = text.split('@')
  const parts = id.split('/')
  const isId = parts.length <= 2 && parts.every((part) => PART.test(part))
  return isId && more.length === 0 && isRevision(revision) ? { id, revision } : null
}

function isRevision(text: string): boolean {
  return REVISION.test(text) && text.split('/').every((part) => part !== '' && !/^\.+$/.test(part))
}

export function isCommit(revision: string): boolean {
  return /^[0-9a-f]{40}$/.test(revision)
}
