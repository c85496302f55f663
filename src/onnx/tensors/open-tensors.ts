import { type Dirent, readdirSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, extname, join, relative, sep } from 'node:path'
import { UsageError } from '../../domain/errors.ts'
import type { TensorSource } from '../../domain/tensor.ts'
import { openNpy } from '../../files/formats/npy.ts'
import { openTrace } from '../../files/formats/safetensors.ts'
import { readValueFile } from './value-file.ts'

const EXTENSIONS = ['.npy', '.safetensors', '.pb']

type Tensors = Map<string, TensorSource>

/** Opens the tensors of an .npy, .safetensors or .pb file, or of all such files of a folder, by their names. */
export async function openTensors(path: string): Promise<Tensors> {
  return (await stat(path)).isDirectory() ? openFolder(path) : openFile(path)
}

async function openFile(path: string): Promise<Tensors> {
  const extension = extname(path).toLowerCase()
  const name = basename(path, extname(path))
  if (extension === '.npy') return new Map([[name, await openNpy(path, name)]])
  if (extension === '.pb') return new Map([[name, await openProto(path, name)]])
  if (extension === '.safetensors') return new Map((await openTrace(path)).tensors)
  const what = extension === '' ? 'without an extension' : `of type "${extension}"`
  const hint = extension === '.onnx' ? ' (assay test judges models)' : ''
  throw new UsageError('tensors', `${path} is a file ${what}; tensors are read from ${EXTENSIONS.join(', ')}${hint}`)
}

/** Its bytes are read again for each use, so a whole folder is never held in memory. */
async function openProto(path: string, name: string): Promise<TensorSource> {
  const read = async () => {
    const { tensors } = await readValueFile(path, { name, kind: 'tensor', dtype: null, shape: null })
    return tensors.get(name)!
  }
  const { dtype, shape, bytes } = await read()
  return {
    name,
    dtype,
    shape,
    byteLength: bytes.byteLength,
    async *chunks() {
      yield (await read()).bytes
    },
  }
}

async function openFolder(folder: string): Promise<Tensors> {
  const paths = tensorFiles(folder)
  if (paths.length === 0) {
    throw new UsageError(
      'tensors',
      `${folder} holds no ${EXTENSIONS.join(', ')} file and no run.json; give another folder`,
    )
  }
  const stems = paths.map((path) => nameIn(folder, path, true))
  const tensors: Tensors = new Map()
  for (const [i, path] of paths.entries()) {
    const isAlone = stems.indexOf(stems[i]!) === stems.lastIndexOf(stems[i]!)
    const name = isAlone ? stems[i]! : nameIn(folder, path, false)
    const found = await openFile(path)
    for (const [inner, source] of found) {
      const full = found.size === 1 ? name : `${name}#${inner}`
      tensors.set(full, { ...source, name: full })
    }
  }
  return tensors
}

function nameIn(folder: string, path: string, isStem: boolean): string {
  const name = relative(folder, path).split(sep).join('/')
  return isStem ? name.slice(0, name.length - extname(name).length) : name
}

/** In order of their paths; links to folders are not followed. */
function tensorFiles(folder: string): string[] {
  const isTensors = (entry: Dirent) => !entry.isDirectory() && EXTENSIONS.includes(extname(entry.name).toLowerCase())
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true })
  return entries
    .filter(isTensors)
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}
