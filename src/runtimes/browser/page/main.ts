/// <reference lib="dom" />
import type { Visit } from '../settings.ts'
import type { News } from './news.ts'

const POLL_MS = 500
const token = location.hash.slice(1)

/** The worker of this page, and which of Assay's workers it talks to. */
let current: { readonly worker: Worker; readonly visit: string } | null = null

/** Assay starts a fresh worker after a crash or a time-out; ours may be too busy computing to notice. */
async function keepUp(): Promise<void> {
  const visit = await whoServes()
  if (current && current.visit !== visit) stopWorker()
  if (!current && visit !== null) current = { worker: startWorker(), visit }
  setTimeout(keepUp, POLL_MS)
}

async function whoServes(): Promise<string | null> {
  try {
    return ((await (await fetch('/visit.json')).json()) as Visit).visit
  } catch {
    // No worker is there now; one may come later.
    return null
  }
}

/** Models run in a worker of the page, so that the page itself stays responsive. */
function startWorker(): Worker {
  const worker = new Worker(`/assay/worker.js#${token}`, { type: 'module' })
  worker.addEventListener('message', ({ data }: MessageEvent<News>) => show(data))
  worker.addEventListener('error', (event) => say('Something went wrong', event.message || 'A script did not load.'))
  return worker
}

function stopWorker(): void {
  current?.worker.terminate()
  current = null
  say('Not connected', 'The run has ended, or a fresh worker starts. This page connects by itself.')
}

function show(news: News): void {
  if (news.type === 'connected') say('Connected', 'Leave this page open and in front.')
  else if (news.type === 'opened') say('Testing', `${news.models} model${news.models === 1 ? '' : 's'} opened`)
  else if (news.type === 'facts') showFacts(news.facts)
  else say('Not connected', news.reason)
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

void keepUp()
