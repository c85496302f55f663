import { FormatError } from '../../../domain/errors.ts'
import { cleanText } from '../../../domain/text.ts'

/** Names of files in a repository come from others: one that could leave its folder is refused. */
export function checkFileName(name: string, where: string): string {
  const parts = name.split('/')
  const isPlain = parts.every((part) => part !== '' && !/^\.+$/.test(part)) && !/[\\:\u0000-\u001f\u007f]/.test(name)
  if (isPlain && name.length <= 1000) return name
  throw new FormatError(
    'file-name',
    `${where} names the file ${JSON.stringify(cleanText(name, 100))}; expected a path inside it`,
  )
}
