/// <reference lib="dom" />
import { BlobModels } from '../../worker/model-source.ts'
import { serveRuntime } from '../../worker/serve-runtime.ts'
import { CANNOT_GO_ON, type PageSettings } from '../settings.ts'
import type { News } from './news.ts'
import { PageRuntime } from './runtime.ts'
import { openSocketChannel } from './socket-channel.ts'

/** Models below this stay for their next case; larger ones are sent again. */
const KEPT_BYTES = 64 * 2 ** 20
/** The reason of a close must fit into a control frame. */
const MAX_REASON = 120

const tell = (news: News) => postMessage(news)

async function connect(): Promise<WebSocket> {
  const socket = new WebSocket(`ws://${location.host}/worker?token=${location.hash.slice(1)}`)
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve())
    socket.addEventListener('close', () => reject(new Error('no connection')))
  })
  return socket
}

async function serve(): Promise<string> {
  const settings = (await (await fetch('/page.json')).json()) as PageSettings
  const socket = await connect()
  tell({ type: 'connected' })
  let problem = 'Assay closed the connection.'
  const runtime = new PageRuntime(settings, (reason) => {
    problem = reason
    socket.close(CANNOT_GO_ON, reason.slice(0, MAX_REASON))
  })
  await serveRuntime(watched(runtime), openSocketChannel(socket), new BlobModels(KEPT_BYTES))
  return problem
}

/** The runtime, with news about it for the person who looks at the page. */
function watched(runtime: PageRuntime): Pick<PageRuntime, 'name' | 'probe' | 'open'> {
  let models = 0
  return {
    name: runtime.name,
    async probe(device) {
      const probe = await runtime.probe(device)
      tell({ type: 'facts', facts: probe.available ? { device, ...probe.detail } : { device, problem: probe.reason } })
      return probe
    },
    async open(model, options) {
      const session = await runtime.open(model, options)
      models++
      tell({ type: 'opened', models })
      return session
    },
  }
}

serve().then(
  (reason) => tell({ type: 'ended', reason }),
  () =>
    tell({ type: 'ended', reason: 'Assay did not accept this page: is the address complete, is another page open?' }),
)
