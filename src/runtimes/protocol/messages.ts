import type { PaddingMask } from '../../compare/layers/real-positions.ts'
import type { DType } from '../../domain/dtype.ts'
import type { FailureDetail } from '../../domain/errors.ts'
import type { Target } from '../../domain/target.ts'
import type { TensorSpec, TraceValue, ValueSpec } from '../../domain/tensor.ts'
import { STAGES, type Stage } from '../../domain/verdict.ts'
import {
  type IrOptions,
  type MeasuredModelRun,
  MODEL_FORMATS,
  type ModelFormat,
  type ModelRun,
  type Probe,
  type WeightFacts,
} from '../contract.ts'
import { ProtocolError } from './frame.ts'
import { readPaired } from './paired.ts'
import * as read from './read-fields.ts'

export const PROTOCOL = 1

interface HelloParams {
  readonly protocols: readonly number[]
  readonly device: string
}

export type WireModel =
  | { readonly format: ModelFormat; readonly path: string }
  | { readonly format: ModelFormat; readonly folder: string; readonly byteLength: number }
  | BlobModel

/** A model that was put before, with its external data. */
export interface BlobModel {
  readonly format: ModelFormat
  readonly blob: string
  readonly external: readonly { readonly location: string; readonly blob: string }[]
}

interface OpenParams {
  readonly model: WireModel
  readonly target: Target
  readonly taps?: readonly string[]
  readonly logs?: string
}

type FormParams = IrOptions & { readonly model: WireModel }

export interface RunParams {
  readonly session: number
  readonly values: readonly TraceValue[]
  readonly logs?: string
  /** Only for workers that see our files. */
  readonly files?: RunFiles
  /** Only for workers that measure: outputs stay there, or are measured against those that stayed. */
  readonly beside?: BesideParams
}

/** What becomes of outputs that do not travel. */
export type BesideParams = HoldParams | MeasureParams

interface HoldParams {
  readonly hold: true
  /** Of outputs, as far as they are known before. */
  readonly shapes: readonly TensorSpec[]
}

export interface MeasureParams {
  readonly shapes: readonly TensorSpec[]
  readonly pairs: readonly PairOfOutputs[]
  readonly mask: PaddingMask | null
}

/** Outputs of both sides that are the same layer; null: that side has none. */
export interface PairOfOutputs {
  readonly name: string
  readonly reference: string | null
  readonly target: string | null
}

/** Tensors that do not travel, because host and worker see the same files. */
export interface RunFiles {
  /** Those of the inputs that lie in files; the others follow the request. */
  readonly inputs: readonly FiledTensor[]
  /** Where the outputs go, as a trace, and how many bytes they may take. */
  readonly outputs: string
  readonly byteLimit: number
  /** What outputs will be if they are right: those that are equal to the bit need not be written. */
  readonly expected?: readonly FiledTensor[]
  /** Outputs whose shapes are known. */
  readonly shapes?: readonly TensorSpec[]
  /** Their largest magnitudes and zeros are wanted in the metadata. */
  readonly measures?: boolean
}

export interface FiledTensor extends TensorSpec {
  readonly path: string
  readonly start: number
}

/** The tensors `ids`, `mask` and maybe `positions` follow it. */
export interface DecodeStartParams extends Omit<RunParams, 'files' | 'beside'> {
  readonly newTokens: number
  readonly eos: readonly number[]
  readonly keep: { readonly topK: number } | 'full'
}

export interface DecodeStepParams {
  readonly session: number
  readonly step: number
  readonly force?: readonly (number | null)[]
  readonly at?: readonly (readonly number[])[]
}

export interface TensorParams {
  readonly request: number
  readonly name: string
  readonly dtype: DType
  readonly shape: readonly number[]
  readonly offset: number
  readonly last: boolean
}

export interface BytesParams {
  readonly request: number
  readonly offset: number
  readonly last: boolean
}

/** What the host sends. */
export type HostMessage =
  | Request<'hello', HelloParams>
  | Request<'open', OpenParams>
  | Request<'run', RunParams>
  | Request<'decode.start', DecodeStartParams>
  | Request<'decode.step', DecodeStepParams>
  | Request<'warm', RunParams>
  | Request<'decode.warm', DecodeStartParams>
  | Request<'close', { readonly session: number }>
  | Request<'weights', { readonly session: number }>
  | Request<'form', FormParams>
  | Request<'blob.has', { readonly digest: string }>
  | Request<'blob.put', { readonly digest: string; readonly byteLength: number }>
  | Notification<'tensor', TensorParams>
  | Notification<'bytes', BytesParams>

export type HostRequest = Extract<HostMessage, { readonly id: number }>

interface Request<Method extends string, Params> {
  readonly jsonrpc: '2.0'
  readonly id: number
  readonly method: Method
  readonly params: Params
}

interface Notification<Method extends string, Params> {
  readonly jsonrpc: '2.0'
  readonly method: Method
  readonly params: Params
}

export interface WireError {
  readonly code: number
  readonly message: string
  readonly data?: WireErrorData
}

type WireErrorData = FailureDetail & {
  readonly stage?: Stage
  /** It cannot be trusted any more: it and all that it started are ended. */
  readonly ends?: true
}

/** What a worker sends. */
export type WorkerMessage =
  | { readonly type: 'result'; readonly id: number; readonly result: unknown }
  | { readonly type: 'error'; readonly id: number | null; readonly error: WireError }
  | { readonly type: 'tensor'; readonly params: UncheckedTensorParams }
  | { readonly type: 'log'; readonly text: string }
  | { readonly type: 'progress'; readonly text: string }
  | { readonly type: 'notice'; readonly text: string }
  | { readonly type: 'end'; readonly reason: string; readonly detail: EndDetail; readonly final: boolean }
  | { readonly type: 'ignored'; readonly method: string }

/** How that ended which a worker stands for, where it runs elsewhere. */
export type EndDetail = Pick<FailureDetail, 'exitCode' | 'signal'>

/** A tensor notification whose dtype and shape are not judged yet. */
export type UncheckedTensorParams = Omit<TensorParams, 'dtype'> & { readonly dtype: string }

export interface Opened {
  readonly session: number
  readonly inputs: readonly ValueSpec[]
  readonly outputs: readonly ValueSpec[]
  readonly detail: Readonly<Record<string, string>>
  /** Time that loading or compiling took in the worker; null: it did not say. */
  readonly durationMs: number | null
  /** The first run of every shape compiles, so it is warmed up before. */
  readonly warms?: true
}

/** A run that was made because it compiles. */
export interface WarmUp {
  /** All of it. */
  readonly durationMs: number
  /** What compiling took of that. */
  readonly compileMs: number
}

export function parseWorkerMessage(header: unknown): WorkerMessage {
  const message = read.object(header, 'message')
  if (message.jsonrpc !== '2.0') throw new ProtocolError('a message without "jsonrpc": "2.0"')
  if (typeof message.method === 'string') return parseNotification(message.method, message.params)
  if (message.error !== undefined) return { type: 'error', id: idOf(message.id), error: parseError(message.error) }
  if (message.result === undefined) throw new ProtocolError('a message with neither method, result nor error')
  return { type: 'result', id: read.wholeNumber(message.id, 'id'), result: message.result }
}

function idOf(id: unknown): number | null {
  return id === null || id === undefined ? null : read.wholeNumber(id, 'id')
}

function parseNotification(method: string, given: unknown): WorkerMessage {
  const params = read.object(given ?? {}, `params of "${method}"`)
  if (method === 'tensor') return { type: 'tensor', params: parseTensorParams(params) }
  if (method === 'log' || method === 'progress' || method === 'notice')
    return { type: method, text: read.text(params.text, `${method} text`) }
  if (method === 'end') {
    const { exitCode, signal } = parseErrorData(params)
    const detail = { ...(exitCode !== undefined && { exitCode }), ...(signal !== undefined && { signal }) }
    return { type: 'end', reason: read.text(params.reason, 'end reason'), detail, final: params.final === true }
  }
  return { type: 'ignored', method }
}

function parseTensorParams(params: read.Fields): UncheckedTensorParams {
  return {
    request: read.wholeNumber(params.request, 'tensor request'),
    name: read.text(params.name, 'tensor name'),
    dtype: read.text(params.dtype, 'tensor dtype'),
    shape: read.list(params.shape, 'tensor shape').map((dim) => read.wholeNumber(dim, 'dimension in tensor shape')),
    offset: read.wholeNumber(params.offset, 'tensor offset'),
    last: read.truth(params.last, 'tensor last'),
  }
}

function parseError(given: unknown): WireError {
  const error = read.object(given, 'error')
  const code = typeof error.code === 'number' ? error.code : 0
  const message = read.text(error.message, 'error message')
  return error.data == null ? { code, message } : { code, message, data: parseErrorData(error.data) }
}

function parseErrorData(given: unknown): WireErrorData {
  const data = read.object(given, 'error data')
  const stage = STAGES.find((name) => name === data.stage)
  return {
    ...(stage && { stage }),
    ...(data.ends === true && { ends: true }),
    ...(typeof data.tool === 'string' && { tool: data.tool }),
    ...(Array.isArray(data.argv) && { argv: data.argv.map(String) }),
    ...(typeof data.exitCode === 'number' && { exitCode: data.exitCode }),
    ...(typeof data.signal === 'string' && { signal: data.signal }),
    ...(typeof data.stderr === 'string' && { stderr: data.stderr }),
  }
}

export function parseHello(result: unknown): Probe {
  const hello = read.object(result, 'hello result')
  const protocols = read.list(hello.protocols, 'hello protocols')
  if (!protocols.includes(PROTOCOL)) {
    throw new ProtocolError(`the worker speaks protocols ${JSON.stringify(protocols)}; this host speaks ${PROTOCOL}`)
  }
  if (hello.available === false) return { available: false, reason: read.text(hello.reason, 'hello reason') }
  const accepts = read.list(hello.accepts, 'hello accepts')
  return {
    available: true,
    version: read.text(hello.version, 'hello version'),
    accepts: MODEL_FORMATS.filter((format) => accepts.includes(format)),
    capabilities: read.capabilities(hello),
    detail: read.texts(hello.detail ?? {}, 'hello detail'),
    fingerprint: hello.fingerprint == null ? null : read.text(hello.fingerprint, 'hello fingerprint'),
  }
}

export function parseOpened(result: unknown): Opened {
  const opened = read.object(result, 'open result')
  return {
    session: read.wholeNumber(opened.session, 'session'),
    inputs: read.list(opened.inputs, 'inputs').map((spec) => read.valueSpec(spec, 'input')),
    outputs: read.list(opened.outputs, 'outputs').map((spec) => read.valueSpec(spec, 'output')),
    detail: read.texts(opened.detail ?? {}, 'open detail'),
    durationMs: opened.durationMs == null ? null : read.duration(opened.durationMs, 'open durationMs'),
    ...(opened.warms === true && { warms: true }),
  }
}

/** The answer to `warm`; null: there was nothing left to compile. */
export function parseWarmUp(result: unknown): WarmUp | null {
  const warmed = read.object(result, 'warm result')
  if (warmed.durationMs == null) return null
  const durationMs = read.duration(warmed.durationMs, 'warm durationMs')
  return { durationMs, compileMs: Math.min(durationMs, read.duration(warmed.compileMs ?? 0, 'warm compileMs')) }
}

/** The answer to `form`: the name of a file in the folder that the request named. */
export function parseForm(result: unknown): string | null {
  const { file } = read.object(result, 'form result')
  return file === null ? null : read.fileName(file, 'form file')
}

export function parseWeights(result: unknown): WeightFacts[] {
  return read.list(read.object(result, 'weights result').weights, 'weights').map((item) => {
    const weight = read.object(item, 'weight')
    return {
      name: read.text(weight.name, 'weight name'),
      dtype: read.text(weight.dtype, 'weight dtype'),
      shape: read.list(weight.shape, 'weight shape').map((dim) => read.wholeNumber(dim, 'dimension in weight shape')),
      sha256: read.text(weight.sha256, 'weight sha256'),
    }
  })
}

/** The answer to `blob.has`. */
export function parseHas(result: unknown): boolean {
  return read.truth(read.object(result, 'blob.has result').has, 'blob.has has')
}

export function parseRan(result: unknown): ModelRun {
  const ran = read.object(result, 'run result')
  return {
    durationMs: read.duration(ran.durationMs, 'run durationMs'),
    values: read.list(ran.values, 'values').map(read.traceValue),
    warnings: read.list(ran.warnings ?? [], 'warnings').map((warning) => read.text(warning, 'warning')),
    equal: read.list(ran.equal ?? [], 'equal').map((name) => read.text(name, 'name of an equal output')),
  }
}

/** The answer to a run whose outputs were measured. */
export function parseMeasured(result: unknown): MeasuredModelRun {
  const { measured } = read.object(result, 'run result')
  return { ...parseRan(result), measured: read.list(measured, 'measured').map(readPaired) }
}
