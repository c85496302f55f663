import type { Target } from '../../../domain/target.ts'
import { cleanText } from '../../../domain/text.ts'
import type { Probe } from '../../../runtimes/contract.ts'
import type { Pool } from '../../../runtimes/host/pool.ts'
import { targetNamed } from '../../tensors/targets/chosen-targets.ts'
import type { DecodersAsked } from './decoders-asked.ts'

const PROCESSOR = 'cpu'
const DEFAULT_DTYPE = 'bf16'

/** Best first. Whatever else torch calls an accelerator is better than the processor too. */
const ACCELERATORS = ['cuda', 'xpu', 'mps']

/** The best device of all that torch reports. */
export function bestDevice(report: Probe): string {
  const others = devicesIn(report).filter((device) => device !== PROCESSOR)
  return ACCELERATORS.find((device) => others.includes(device)) ?? others[0] ?? PROCESSOR
}

function devicesIn(report: Probe): string[] {
  return report.available ? (report.detail.devices ?? PROCESSOR).split(', ') : [PROCESSOR]
}

/** Which baseline was chosen and why; null: torch is not here, which its case says. */
export function baselineText(target: string, report: Probe): string | null {
  if (!report.available) return null
  const devices = devicesIn(report).join(', ')
  const found = bestDevice(report) === PROCESSOR ? `no GPU here, only ${devices}` : devices
  return `the baseline is ${target}: torch ${report.version} reports ${found}; --baseline names another`
}

/** The second trusted target: the one that was named, else PyTorch on the best device that is here. */
export async function chooseBaseline(
  { decoders, config }: DecodersAsked,
  pool: Pool,
  notice: (text: string) => void,
): Promise<Target> {
  if (decoders.baseline !== undefined) return targetNamed(decoders.baseline, config)
  const on = (device: string) => `torch:${device},dtype=${decoders.defaultDtype ?? DEFAULT_DTYPE}`
  const report = await pool.probe(targetNamed(on(PROCESSOR), config))
  const target = targetNamed(on(bestDevice(report)), config)
  const text = baselineText(target.name, report)
  if (text !== null) notice(cleanText(text))
  return target
}
