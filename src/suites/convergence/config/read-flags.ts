import type { ConvergenceTest, Flag } from './contract.ts'
import type { TestSection } from './test-section.ts'

const FLAG_KEYS = ['key', 'value', 'set_in_script']
const KEY = 'the flag as the program knows it, such as "--epochs"'

/** The command line of the program, apart from what is filled in when it starts. */
export function readFlags(test: TestSection, warnings: string[]): ConvergenceTest['flags'] {
  const flags = test.section('flags', 'a map with gather and run').allow(['common', 'gather', 'run'])
  const gather = flags.section('gather', 'the flags for recording: checkpoint_output and misc')
  const run = flags.section('run', 'the flags for replaying: checkpoint_input, start_step, run_for and misc')
  const hint = '; other flags go under misc'
  gather.allow(['checkpoint_output', 'misc'], hint)
  run.allow(['checkpoint_input', 'start_step', 'run_for', 'seed', 'misc'], hint)
  return {
    common: freeFlags(flags, 'common', warnings),
    gather: {
      checkpointOutput: filledFlag(gather, 'checkpoint_output', warnings),
      misc: freeFlags(gather, 'misc', warnings),
    },
    run: {
      checkpointInput: filledFlag(run, 'checkpoint_input', warnings),
      startStep: filledFlag(run, 'start_step', warnings),
      runFor: filledFlag(run, 'run_for', warnings),
      ...seedFlag(run),
      misc: freeFlags(run, 'misc', warnings),
    },
  }
}

function filledFlag(section: TestSection, name: string, warnings: string[]): Flag {
  const flag = section.section(name, `a map with key: ${KEY}`).allow(FLAG_KEYS)
  if (flag.isGiven('value')) warnings.push(`${flag.path}.value is ignored: this flag is filled in for every run`)
  return { key: flag.text('key', KEY) }
}

function seedFlag(section: TestSection): { seed?: Flag } {
  const flag = section.optionalSection('seed', `a map with key: ${KEY}`)?.allow(FLAG_KEYS)
  return flag ? { seed: flagOf(flag) } : {}
}

function flagOf(flag: TestSection): Flag {
  const value = flag.has('set_in_script') ? null : flag.optionalText('value', 'text, a number, or null for none')
  return { key: flag.text('key', KEY), ...(value !== null && { value }) }
}

function freeFlags(section: TestSection, name: string, warnings: string[]): Flag[] {
  const flags = section.optionalSection(name, 'a map of flags')
  return (flags?.keys ?? []).flatMap((key) => {
    const flag = flags!.section(key, 'a map with key and value').allow(FLAG_KEYS)
    if (!flag.has('set_in_script')) return [flagOf(flag)]
    warnings.push(`${flag.path} has set_in_script, so it is left out: nothing fills it in`)
    return []
  })
}
