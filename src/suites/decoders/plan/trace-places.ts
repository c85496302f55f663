import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { UsageError } from '../../../domain/errors.ts'
import { suggest } from '../../../domain/suggest.ts'
import { cleanText } from '../../../domain/text.ts'
import { nearFile } from '../../../files/disk/near-file.ts'
import type { LaunchContext } from '../../../runtimes/contract.ts'
import { findPython } from '../../../runtimes/python/find-python.ts'
import { ValidationInfoFiles } from '../../../runtimes/python/validation-info.ts'
import type { Notice } from '../../contract.ts'
import { TraceStore } from '../store/trace-store.ts'
import type { DecodingOptions } from '../suite.ts'
import { InfoWriter } from '../validation-info/info-writer.ts'
import { ValidationInfo } from '../validation-info/validation-info.ts'
import type { DecodersAsked } from './decoders-asked.ts'

/** Where traces of earlier runs lie, ours and those of aiu-fms-testing-utils, and where those of this run go. */
export function chooseTracePlaces(
  asked: DecodersAsked,
  notice: Notice,
): Pick<DecodingOptions, 'store' | 'imports' | 'saved'> {
  const { cwd, environment, values, decoders } = asked
  const { validationInfoDir, saveTraces } = decoders
  const savesInfo = decoders.validationInfoFormat === 'fms'
  if (validationInfoDir === undefined) {
    if (saveTraces || savesInfo) throw noFolder(savesInfo ? '--validation-info-format fms' : '--save-traces')
    return { store: null, imports: null, saved: null }
  }
  const folder = resolve(cwd, validationInfoDir)
  if (!saveTraces && !savesInfo && !existsSync(folder)) notice(cleanText(noTraces(validationInfoDir, folder)))
  const { python, timeout } = values
  const plain = { environment, projectFolder: cwd, runtimesFolder: join(cwd, '.assay', 'runtimes'), notice }
  const context = { ...plain, ...(python !== undefined && { python }) }
  const files = new ValidationInfoFiles(context, timeout * 1000)
  return {
    store: new TraceStore(folder, saveTraces && !savesInfo, notice),
    imports: new ValidationInfo(folder, files, notice),
    saved: savesInfo ? infoWriter(folder, files, asked, context) : null,
  }
}

function noFolder(flag: string): UsageError {
  return new UsageError('option', `${flag} needs --validation-info-dir, the folder to store them in`)
}

function noTraces(given: string, folder: string): string {
  const advice = suggest(nearFile(folder), '--save-traces makes it')
  return `--validation-info-dir ${given} does not exist, so nothing is taken from it; ${advice}`
}

/** Refuses what would be found out after everything was decoded. */
function infoWriter(
  folder: string,
  files: ValidationInfoFiles,
  { command, targets }: DecodersAsked,
  context: LaunchContext,
): InfoWriter {
  const python = findPython('torch', context)
  if (python.path === null) {
    const text = `--validation-info-format fms saves with PyTorch, and ${python.reason}; ${python.remedy}`
    throw new UsageError('install', text)
  }
  const isBaseline = command === 'decoders baseline'
  if (!isBaseline && targets.targets.length > 1) {
    const text = 'names of folders have no place for the target, so two would write over each other'
    throw new UsageError('option', `--validation-info-format fms: ${text}; give one --target`)
  }
  return new InfoWriter(folder, files, { reference: 'cpu', baseline: 'cuda', target: isBaseline ? 'cuda' : 'aiu' })
}
