/** Numbers from 0 to 1 that depend on what is given alone: on a seed, on what they are for and on a step. */
export function randomNumbers(...key) {
  let state = key.reduce((sum, part) => mix(sum ^ mix(part)), 0x9e3779b9)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    return mix(state) / 2 ** 32
  }
}

/** With mean 0 and deviation 1. */
export function normalNumbers(...key) {
  const random = randomNumbers(...key)
  return () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}

function mix(value) {
  let bits = value | 0
  bits = Math.imul(bits ^ (bits >>> 16), 0x21f0aaad)
  bits = Math.imul(bits ^ (bits >>> 15), 0x735a2d97)
  return (bits ^ (bits >>> 15)) >>> 0
}
