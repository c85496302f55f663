import type { ConfigSection } from '../contract.ts'

const load = (key: keyof typeof import('./section-rules.ts').SECTION_RULES) => async () =>
  (await import('./section-rules.ts')).SECTION_RULES[key]

/** What runs models. */
export const TARGET_SECTIONS: readonly ConfigSection[] = [
  { key: 'targets', title: 'Targets by name', load: load('targets') },
  { key: 'toolchains', title: 'Toolchains', load: load('toolchains') },
]

/** Models that are judged by their tensors. */
export const MODEL_SECTIONS: readonly ConfigSection[] = [
  ...TARGET_SECTIONS,
  { key: 'models', title: 'Models', load: load('models') },
  { key: 'inputs', title: 'Inputs by model', load: load('inputs') },
  { key: 'dims', title: 'Dimensions by model', load: load('dims') },
  { key: 'tolerances', title: 'Tolerances', load: load('tolerances') },
]
