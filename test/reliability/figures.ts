import { appendFileSync } from 'node:fs'

type Figures = Readonly<Record<string, number | string>>

/** A job's figures in one line: printed, and kept for the end of CI's log where `ASSAY_TEST_FIGURES` names a file. */
export function printFigures(job: string, figures: Figures): void {
  const line = figuresLine(job, figures)
  console.log(line)
  const { ASSAY_TEST_FIGURES: file } = process.env
  if (file) appendFileSync(file, `${line}\n`)
}

/** As in `fuzz: 120000 inputs · 9 parsers · 0 crashes · seed 7`. */
export function figuresLine(job: string, figures: Figures): string {
  const parts = Object.entries(figures).map(([what, value]) => {
    return typeof value === 'number' ? `${value} ${what}` : `${what} ${value}`
  })
  return `${job}: ${parts.join(' · ')}`
}
