import { UsageError } from '../../domain/errors.ts'
import type { Result } from '../../domain/result.ts'
import type { TensorSource } from '../../domain/tensor.ts'
import type { Side } from '../../domain/verdict.ts'
import { openTrace } from '../../files/formats/safetensors.ts'
import { artifactPath } from './artifacts.ts'
import type { StoredRun } from './read-run.ts'

/** The tensors of one side that a run kept of a case, by name. */
export async function openCaseTensors(run: StoredRun, result: Result, side: Side): Promise<Map<string, TensorSource>> {
  const kept = run.results.find(({ id }) => id === result.sameAs) ?? result
  const artifact = kept.artifacts.find(({ name }) => name === `${side}.safetensors`)
  if (!artifact) throw nothingKept(result, side)
  const { tensors } = await openTrace(await artifactPath(artifact, run.folder))
  return new Map(tensors)
}

function nothingKept(result: Result, side: Side): UsageError {
  const { id, verdict, artifacts, error } = result
  const what = `run kept no tensors of the ${side} for ${id}`
  const other = side === 'reference' ? 'target' : 'reference'
  if (verdict === 'pass')
    return new UsageError('kept', `the ${what}: it passed; --keep keeps them: ${result.reproduce} --keep`)
  if (error)
    return new UsageError('kept', `the ${what}: it ended with an error at ${error.stage}, before both sides were there`)
  if (artifacts.some(({ name }) => name === `${other}.safetensors`)) {
    const where = `its ${other} is kept, and can be compared with the files that the ${side} was recorded in`
    return new UsageError('kept', `the ${what}: they were recorded elsewhere; ${where}: assay diff <folder> <file>`)
  }
  return new UsageError('kept', `the ${what}: its verdict is ${verdict}; --keep keeps them: ${result.reproduce} --keep`)
}
