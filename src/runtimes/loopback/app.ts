import type { HttpBindings } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { readTarget } from './request-target.ts'

type Env = { Bindings: HttpBindings }
export type LoopbackApp = Hono<Env>
export type LoopbackContext = Context<Env>

/** Routes that match paths as they were sent. Hono's own decode `%2e`, and see them when `..` is resolved. */
export function createApp(): LoopbackApp {
  const app: LoopbackApp = new Hono({ getPath: (_, options) => readTarget(options!.env!.incoming).path })
  return app.notFound((c) => say(c, 404, 'not found'))
}

export function say(c: LoopbackContext, status: ContentfulStatusCode, text: string): Response {
  return c.text(`${text}\n`, status)
}
