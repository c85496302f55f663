import { describeWithPython, PYTHON } from '../support/python.ts'
import { describeWithBoard } from '../support/sshd.ts'
import { describeConformance } from './conformance.ts'

await describeWithBoard('ssh', (board) => {
  describeWithPython('to the example worker', 'numpy', () => {
    const worker = `program=${PYTHON},arg=worker.py,deploy=examples/python-worker/worker.py,ttl=20`
    describeConformance(`${board.spec},${worker}`, {
      external: 'to stay short the example worker reads weights inside the model only',
    })
  })
})
