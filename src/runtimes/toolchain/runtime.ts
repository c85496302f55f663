import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { StageError } from '../../domain/errors.ts'
import type { ModelRef, OpenOptions, Probe, Runtime, Session } from '../contract.ts'
import { WorkerFailure } from '../failure.ts'
import { workingFolder } from '../process/locate-program.ts'
import { build, prepareBuild, type ToolchainOrder } from './build.ts'
import { identifyToolchain, listPrograms } from './identity.ts'
import { IrCompiler } from './ir-compiler.ts'
import { runTool } from './run-tool.ts'
import { toolchainSession } from './session.ts'
import { listDTypes } from './tensor-files.ts'

/** A compiler that is a plain command line. */
export function toolchainRuntime(order: ToolchainOrder): Runtime {
  const forms = new IrCompiler(order)
  let sessions = 0
  return {
    name: 'toolchain',
    probe: () => probe(order),
    open: (model, options) => open(order, model, options, join(order.scratch, `session-${sessions++}`)),
    writeIr: (model, options) => forms.writeIr(model, options),
  }
}

async function probe(order: ToolchainOrder): Promise<Probe> {
  const { toolchain } = order
  try {
    workingFolder(toolchain.cwd, '.')
    const programs = listPrograms(toolchain, process.env)
    const said = await versionOf(order)
    return {
      available: true,
      version: shortVersion(said),
      accepts: ['onnx'],
      capabilities: {
        dtypes: listDTypes(toolchain.tensors),
        kinds: ['tensor'],
        taps: false,
        decode: false,
        profile: false,
        ...(toolchain.ir.length > 0 && { forms: toolchain.ir.map(({ name }) => name) }),
      },
      detail: { file: programs.join(', ') },
      fingerprint: await identifyToolchain(toolchain, said, process.env),
    }
  } catch (error) {
    if (error instanceof WorkerFailure || error instanceof StageError)
      return { available: false, reason: error.message }
    throw error
  }
}

async function versionOf({ toolchain, limitsMs, scratch }: ToolchainOrder): Promise<string> {
  const { version, cwd } = toolchain
  if (version === null) return ''
  const log = join(scratch, 'version.log')
  return (await runTool({ stage: 'compile', argv: version, cwd, env: process.env, limitMs: limitsMs.start, log }))
    .printed
}

/** Some tools print their name alone on the first line. */
function shortVersion(said: string): string {
  const lines = said
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
  return lines.find((line) => /\d/.test(line)) ?? lines[0] ?? 'unknown'
}

async function open(
  order: ToolchainOrder,
  ref: ModelRef,
  { target, logs }: OpenOptions,
  folder: string,
): Promise<Session> {
  await mkdir(folder)
  const site = { folder, logs: logs ?? folder }
  try {
    const prepared = await prepareBuild(order, ref, target, site)
    await build(order, prepared, site)
    return toolchainSession(order, prepared, site, target)
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
}
