import type { MetricLimits } from './limits.ts'

interface KnownModel {
  readonly full?: MetricLimits
  /** Of its trained version with three layers. */
  readonly micro?: MetricLimits
}

const pair = (ce: number, diffMean: number): MetricLimits => ({ ce, diffMean })

/** 99th percentiles of float32 on a CPU against float16 on CUDA, 1,024 tokens per sequence, as published. */
export const KNOWN_LIMITS: Readonly<Record<string, KnownModel>> = {
  'meta-llama/Llama-3.1-8B-Instruct': {
    full: pair(2.6994638133048965, 0.00047589250549208347),
    micro: pair(3.7392955756187423, 0.001),
  },
  'ibm-granite/granite-3.2-8b-instruct': {
    full: pair(2.3919514417648315, 0.0005767398688476533),
    micro: pair(2.996668996810913, 0.001),
  },
  'ibm-granite/granite-3.3-8b-instruct': { full: pair(2.4444521379470827, 0.0004970188625156878) },
  'ibm-granite/granite-20b-code-instruct-8k': {
    full: pair(2.640706129074097, 0.00034344267623964697),
    micro: pair(3.7392955756187423, 0.001),
  },
  'meta-llama/Llama-3.1-70B-Instruct': {
    full: pair(2.841279556751251, 0.0044301633024588115),
    micro: pair(3.8235735702514626, 0.001),
  },
}

/** For models that nothing is known about. */
export const DEFAULT_LIMITS = pair(3, 0.001)
