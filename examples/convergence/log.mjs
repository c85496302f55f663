import { closeSync, openSync, writeSync } from 'node:fs'

const COLUMNS = 'step,loss_data,loss_penalty,accuracy,checkpoint'

/** Numbers are printed as JavaScript does: the shortest text that reads back as the same double. */
export function openLog({ log, csv }) {
  const file = csv === null ? null : openSync(csv, 'w')
  const row = (...cells) => file !== null && writeSync(file, `${cells.join(',')}\n`)
  const print = (text, values) => process.stdout.write(`${log === 'json' ? JSON.stringify(values) : text}\n`)
  row(COLUMNS)
  return {
    say: (message) => print(message, { message }),
    step(step, { loss, penalty, accuracy }) {
      const text = `Step: ${step}  Loss (data penalty): ${loss} ${penalty}  Accuracy: ${accuracy}`
      print(text, { step, loss_data: loss, loss_penalty: penalty, accuracy })
      row(step, loss, penalty, accuracy, '')
    },
    saved(path) {
      print(`Saving model to: ${path}`, { checkpoint: path })
      row('', '', '', '', path)
    },
    close: () => file !== null && closeSync(file),
  }
}
