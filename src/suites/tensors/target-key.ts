import type { Target } from '../../domain/target.ts'
import { computeDigest } from '../../files/disk/digest.ts'
import type { KeyParts } from '../../runs/contract.ts'
import type { RuntimeInfo } from '../../runtimes/contract.ts'

/** Everything about a target that may change what it gives; the content of a model counts apart. */
export function targetKey({ runtime, version, device, options, files }: Target, { fingerprint }: RuntimeInfo) {
  const hardware = files && Object.entries(files).map(([key, { content }]) => [key, content])
  return { runtime, version, device, options: withoutModel(options), hardware, fingerprint }
}

/** The same as parts of a key that a person can compare. */
export function describeTargetKey(target: Target, info: RuntimeInfo): KeyParts {
  const { runtime, version, device, options, hardware } = targetKey(target, info)
  return {
    runtime: `${runtime}${version === null ? '' : `@${version}`}:${device}`,
    options: JSON.stringify(options),
    ...(hardware && { hardware: computeDigest(hardware) }),
    'version and machine': info.fingerprint!,
  }
}

function withoutModel({ model: _another, ...others }: Target['options']): Target['options'] {
  return others
}
