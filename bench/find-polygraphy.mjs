import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/** The executable that was named; otherwise it is installed from PyPI into the folder. */
export function findPolygraphy(named, folder) {
  if (named) return named
  const steps = [
    ['python3', '-m', 'venv', join(folder, 'venv')],
    [join(folder, 'venv/bin/pip'), 'install', '--quiet', 'polygraphy', 'onnx', 'onnxruntime', 'colored'],
  ]
  for (const [command, ...args] of steps) {
    const { status, error } = spawnSync(command, args, { stdio: 'inherit' })
    if (status !== 0) throw error ?? new Error(`${command} ended with ${status}`)
  }
  return join(folder, 'venv/bin/polygraphy')
}
