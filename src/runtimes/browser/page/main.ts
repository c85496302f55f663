/// <reference lib="dom" />
import type { News } from './news.ts'

const RECONNECT_MS = 1000
const token = location.hash.slice(1)

/** Models run in a worker of the page, so that the page itself stays responsive. */
function startWorker(): void {
  const worker = new Worker(`/assay/runtimes/browser/page/worker.js#${token}`, { type: 'module' })
  worker.addEventListener('message', ({ data }: MessageEvent<News>) => {
    show(data)
    if (data.type === 'ended') restart(worker)
  })
  worker.addEventListener('error', (event) => {
    say('Something went wrong', event.message || 'The worker script could not be loaded.')
    restart(worker)
  })
}

/** Assay starts a fresh worker after a crash and waits for us again. */
function restart(worker: Worker): void {
  worker.terminate()
  setTimeout(startWorker, RECONNECT_MS)
}

function show(news: News): void {
  if (news.type === 'connected') say('Connected', 'Leave this page open and in front.')
  else if (news.type === 'opened') say('Testing', `${news.models} model${news.models === 1 ? '' : 's'} opened`)
  else if (news.type === 'facts') showFacts(news.facts)
  else say('Not connected', news.reason ?? 'The run has ended, or has not begun. This page connects by itself.')
}

function say(state: string, note: string): void {
  element('state').textContent = state
  element('note').textContent = note
}

function showFacts(facts: Readonly<Record<string, string>>): void {
  const rows = Object.entries(facts).flatMap(([name, value]) => {
    const [term, description] = [document.createElement('dt'), document.createElement('dd')]
    term.textContent = name
    description.textContent = value
    return [term, description]
  })
  element('facts').replaceChildren(...rows)
}

function element(id: string): HTMLElement {
  return document.getElementById(id)!
}

startWorker()
