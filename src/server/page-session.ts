import { getCookie } from 'hono/cookie'
import { type LoopbackApp, type LoopbackContext, say } from '../runtimes/loopback/app.ts'
import { readTarget } from '../runtimes/loopback/request-target.ts'
import { isSecret, newSecret } from '../runtimes/loopback/secret.ts'

/** How the address begins that lets a browser in. */
export const ARRIVAL = '/?token='

const STEP = '<!doctype html><title>Assay</title><meta http-equiv="refresh" content="0;url=/">'

/** One browser: the first that brings the token. */
export class PageSession {
  readonly token = newSecret()
  readonly #secret = newSecret()
  #isTaken = false

  /** Lets nobody else on to the routes that are added after this. */
  protect(app: LoopbackApp): void {
    app.use(async (c, next) => {
      const { path, query } = readTarget(c.env.incoming)
      const token = path === '/' ? query.get('token') : null
      if (token !== null) return this.#admit(c, token)
      if (this.#isKnown(c)) return next()
      return say(c, 401, 'open the address that the command printed; it works once, in one browser')
    })
  }

  #isKnown(c: LoopbackContext): boolean {
    return isSecret(getCookie(c, cookieName(c)) ?? '', this.#secret)
  }

  /** Exchanges the token of the address for a cookie, so that it does not stay in the address bar. */
  #admit(c: LoopbackContext, token: string): Response {
    if (!this.#isKnown(c) && (this.#isTaken || !isSecret(token, this.token))) {
      return say(c, 401, 'this address has been opened before or was copied wrongly; run the command again')
    }
    this.#isTaken = true
    c.header('Set-Cookie', `${cookieName(c)}=${this.#secret}; HttpOnly; SameSite=Strict; Path=/`)
    // A browser that comes from elsewhere keeps the cookie to itself until a page of ours leads on.
    if (c.req.header('Sec-Fetch-Site') !== 'cross-site') return c.redirect('/', 303)
    return c.body(STEP, 200, { 'Content-Type': 'text/html; charset=utf-8' })
  }
}

/** Cookies of one machine are sent to all of its ports. */
function cookieName({ env }: LoopbackContext): string {
  return `assay-${env.incoming.socket.localPort}`
}
