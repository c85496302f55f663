import type { ConvergenceTest, Flag } from './contract.ts'
import type { YamlSection } from './yaml-section.ts'

type Flags = ConvergenceTest['flags']

/** The command line of the program: what Assay fills in, and what is passed as it is written. */
export function readFlags(test: YamlSection): Flags {
  const flags = test.section('flags', 'the command line flags of the program, in common, gather and run')
  flags.refuseOthers(['common', 'gather', 'run'])
  const gather = flags.section('gather', 'the flags for gathering, with checkpoint_output')
  const run = flags.section('run', 'the flags for replaying, with checkpoint_input, start_step and run_for')
  gather.refuseOthers(['checkpoint_output', 'misc'])
  run.refuseOthers(['checkpoint_input', 'start_step', 'run_for', 'seed', 'misc'])
  return {
    common: given(flags.optional('common')),
    gather: {
      checkpointOutput: filledIn(gather, 'checkpoint_output', 'the flag of the folder for checkpoints'),
      misc: given(gather.optional('misc')),
    },
    run: {
      checkpointInput: filledIn(run, 'checkpoint_input', 'the flag of the checkpoint to go on from'),
      startStep: filledIn(run, 'start_step', 'the flag of the step to go on with'),
      runFor: filledIn(run, 'run_for', 'the flag of how long to go on'),
      ...(run.has('seed') && { seed: filledIn(run, 'seed', 'the flag of the seed') }),
      misc: given(run.optional('misc')),
    },
  }
}

const KEYS = ['key', 'value', 'set_in_script']

function filledIn(section: YamlSection, name: string, what: string): Flag {
  const flag = section.section(name, what)
  flag.refuseOthers(KEYS)
  if (flag.has('value')) throw flag.problem('value', 'is filled in by Assay; leave it out')
  return { key: flag.text('key', what) }
}

/** One that is set in the script is not passed, whatever `set_in_script` says. */
function given(section: YamlSection | null): Flag[] {
  if (!section) return []
  return section.keys.flatMap((name) => {
    const flag = section.section(name, 'a flag with key and value')
    flag.refuseOthers(KEYS)
    const key = flag.text('key', 'the flag itself, such as "--epochs"')
    if (flag.mentions('set_in_script')) return []
    return [flag.has('value') ? { key, value: flag.text('value', 'a value') } : { key }]
  })
}
