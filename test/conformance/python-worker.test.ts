import { describeWithPython, PYTHON } from '../support/python.ts'
import { describeConformance } from './conformance.ts'

describeWithPython('the Python worker', 'numpy', () => {
  describeConformance(`command:${PYTHON},arg=examples/python-worker/worker.py`, {
    external: 'to stay short it reads weights inside the model only',
  })
})
